// The timeline: tracks, ruler, marks, minimap. Makes its parts, hears of what changes, and draws in the browser's frames what has
// changed, and nothing when nothing has.

import { formatCount, formatDuration, formatTime } from '../format.js';
import { button, element, fill } from '../panels/dom.js';
import { reveal } from '../panels/walk.js';
import { announceSpans } from './announcer.js';
import { makePalette } from './colours.js';
import { HeadCanvas } from './head_canvas.js';
import { itemAt, makeLayout, ROW_HEIGHT, TRACK_PADDING } from './layout.js';
import { Legend } from './legend.js';
import { Minimap } from './minimap.js';
import { listenToMinimap } from './minimap_pointer.js';
import { HeldKeys, panned, zoomed } from './motion.js';
import { Names } from './names.js';
import { OverlayCanvas } from './overlay_canvas.js';
import { listenToPointer } from './pointer.js';
import { RangeData } from './range_data.js';
import { HEAD_HEIGHT, RULER_HEIGHT, Scene } from './scene.js';
import { Scrollbar } from './scrollbar.js';
import { readTheme } from './theme.js';
import { planTiles } from './tile_plan.js';
import { TileStore } from './tile_store.js';
import { listenToTimelineKeys } from './timeline_keys.js';
import { Tooltip } from './tooltip.js';
import { TracksCanvas } from './tracks_canvas.js';
import { spanBeginningIn, walk } from './walk_spans.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../data/source.js').Hit} Hit */
/** @typedef {import('../data/source.js').Mark} Mark */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('./counter_chart.js').Sample} Sample */
/** @typedef {import('./pointer.js').Point} Point */
/** @typedef {import('./tracks_canvas.js').DrawnPiece} DrawnPiece */
/** @typedef {{source: DataSource, state: ViewState, info: TraceInfo, functions: FunctionInfo[]}} Page */

const MOST_MARKS = 1000;
const POINTS_PER_PIXEL = 1;
const BUTTON_ZOOM = 2;
const NO_MARKS = { marks: /** @type {Mark[]} */ ([]), hits: /** @type {Hit[]} */ ([]), more: false };
const TRY_AGAIN = 3500; // ms

class Timeline {
  #page;
  #root;
  /** @type {Scene} */
  #scene;
  #theme;
  #palette;
  #keys = new HeldKeys();
  /**
   * What the next frame has to do: 'sight': all, since something else is seen; 'tracks': draw them anew; 'overlay': only what
   * lies over them.
   * @type {Set<'sight' | 'tracks' | 'overlay'>}
   */
  #stale = new Set();
  #scheduled = false;
  /** @type {Point | null} */
  #pointer = null;
  /** @type {DrawnPiece | null} */
  #hovered = null;
  /** @type {'pan' | 'measure'} */
  #mode = 'pan';
  frames = 0;
  /** ms that the last frame took. */
  frameTime = 0;

  /** @param {{timeline: HTMLElement, toolbar: HTMLElement, live: HTMLElement}} places @param {Page} page */
  constructor(places, page) {
    this.#page = page;
    this.#root = places.timeline;
    const { source, state, info, functions } = page;
    const changed = { arrived: () => this.#draw('tracks'), failed: (/** @type {Error} */ error) => this.#trouble(error) };
    this.store = new TileStore(source, info.duration, changed);
    this.#marks = new RangeData((range, signal) => source.marks(range, MOST_MARKS, signal), changed);
    this.#counters = new Map(
      info.counters.map(({ id }) => [
        id,
        new RangeData((range, signal) => source.counter(id, range, Math.ceil(this.#scene.width * 3 * POINTS_PER_PIXEL), signal), changed),
      ]),
    );
    this.#scene = new Scene(makeLayout(info, state.folded), info.duration);
    this.#theme = readTheme(document.body);
    this.#palette = makePalette(functions, this.#theme.spans, state.search.group);

    this.#minimap = new Minimap(element('canvas', { class: 'minimap' }), info.tracks, info.duration);
    this.#head = new HeadCanvas(element('canvas', { class: 'head' }));
    this.#tracks = new TracksCanvas(element('canvas', { class: 'tracks' }), this.store, functions);
    this.#overlay = new OverlayCanvas(
      element('canvas', {
        class: 'overlay',
        tabindex: 0,
        role: 'application',
        'aria-label': 'Timeline. W and S zoom, A and D move; with a chosen span, arrows walk to caller, callee and neighbours.',
      }),
    );
    const names = element('div', { class: 'names', role: 'group', 'aria-label': 'Tracks' });
    this.#names = new Names(names, state);
    this.#scrollbar = new Scrollbar((y) => this.#scrollTo(y));
    this.#root.append(
      element('div', { class: 'corner' }, this.#legend.element), this.#minimap.canvas,
      this.#corner, this.#head.canvas,
      names, this.#tracks.canvas, this.#scrollbar.element,
      this.#overlay.canvas, this.#alert,
    );
    this.#tooltip = new Tooltip(this.#root);
    this.#makeToolbar(places.toolbar);
    announceSpans(places.live, source, state, info);
    this.#listen();
    this.#resize();
  }

  #marks;
  #counters;
  #minimap;
  #head;
  #tracks;
  #overlay;
  #names;
  #scrollbar;
  #tooltip;
  #legend = new Legend();
  #corner = element('div', { class: 'corner base' });
  #alert = element('p', { class: 'trouble', role: 'alert', hidden: true });
  /** @type {Record<'pan' | 'measure', HTMLButtonElement>} */
  #modes = {
    pan: button('Move', () => this.#setMode('pan'), { title: 'Dragging moves the view (1)' }),
    measure: button('Measure', () => this.#setMode('measure'), { title: 'Dragging measures a range (2, or hold Shift)' }),
  };

  /** @param {HTMLElement} toolbar */
  #makeToolbar(toolbar) {
    const { state, info } = this.#page;
    /** @param {boolean} folded */
    const foldAll = (folded) => () => info.tracks.forEach(({ id }) => state.setFolded(id, folded));
    toolbar.append(
      element('span', { class: 'joined', role: 'group', 'aria-label': 'What dragging does' }, this.#modes.pan, this.#modes.measure),
      element(
        'span',
        { class: 'joined', role: 'group', 'aria-label': 'Zoom' },
        button('−', () => this.#zoom(BUTTON_ZOOM), { 'aria-label': 'Zoom out', title: 'Zoom out (S)' }),
        button('+', () => this.#zoom(1 / BUTTON_ZOOM), { 'aria-label': 'Zoom in', title: 'Zoom in (W)' }),
        button('Whole', () => this.#go('all'), { 'aria-label': 'Show the whole trace', title: 'Show the whole trace (0)' }),
      ),
      element(
        'span',
        { class: 'joined', role: 'group', 'aria-label': 'Tracks' },
        button('Fold', foldAll(true), { 'aria-label': 'Fold all tracks', title: 'Fold all tracks' }),
        button('Unfold', foldAll(false), { 'aria-label': 'Unfold all tracks', title: 'Unfold all tracks' }),
      ),
    );
    this.#setMode('pan');
  }

  #listen() {
    const { state } = this.#page;
    state.addEventListener('view', () => this.#draw('sight'));
    state.addEventListener('tracks', () => this.#draw('sight'));
    state.addEventListener('span', () => this.#showSpan());
    for (const event of ['selection', 'flags']) state.addEventListener(event, () => this.#draw('overlay'));
    for (const event of ['search', 'theme']) state.addEventListener(event, () => this.#recolour());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#recolour());
    new ResizeObserver(() => this.#resize()).observe(this.#root);
    listenToMinimap(this.#minimap.canvas, {
      view: () => state.view,
      setView: (range) => state.setView(range),
      timeAt: (x) => this.#minimap.timeAt(x),
    });
    listenToPointer(this.#overlay.canvas, {
      view: () => state.view,
      setView: (range) => state.setView(range),
      timeAt: (x) => this.#timeAt(x),
      width: () => this.#scene.width,
      scroll: (by) => this.#scrollTo(this.#scene.scroll + by),
      measure: (from, to) => this.#measure(from, to),
      click: (point) => this.#choose(point),
      doubleClick: (point) => this.#zoomTo(point),
      hover: (point) => this.#hover(point),
      mode: () => this.#mode,
    });
    listenToTimelineKeys(this.#overlay.canvas, {
      press: (key) => this.#press(key),
      release: (key) => this.#keys.release(key),
      releaseAll: () => this.#keys.releaseAll(),
      walk: (step) => this.#walk(step),
      hasSpan: () => state.span !== null,
      pan: (share) => state.setView(panned(state.view, share)),
      scroll: (by) => this.#scrollTo(this.#scene.scroll + by),
      page: (pages) => this.#scrollTo(this.#scene.scroll + pages * 0.9 * this.#scene.height),
      go: (edge) => this.#go(edge),
      zoomToSpan: () => state.span && state.goTo(state.span),
      setMode: (mode) => this.#setMode(mode),
      clear: () => this.#clear(),
      fold: () => this.#fold(),
    });
  }

  // -- what is drawn ------------------------------------------------------------------------------------------------------

  /** @param {'sight' | 'tracks' | 'overlay'} what */
  #draw(what) {
    this.#stale.add(what);
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame((now) => {
      this.#scheduled = false;
      this.#frame(now);
    });
  }

  /** @param {number} now */
  #frame(now) {
    const began = performance.now();
    const { state, info } = this.#page;
    if (this.#keys.any) this.#moveByKeys(now);
    const scene = this.#scene;
    const sight = this.#stale.has('sight');
    const tracks = sight || this.#stale.has('tracks');
    this.#stale.clear();
    if (this.#keys.any) this.#stale.add('sight');
    if (sight) {
      scene.view = state.view;
      scene.layout = makeLayout(info, state.folded);
      scene.setScroll(scene.scroll);
      this.#ask();
    }
    if (tracks) {
      const marks = this.#marks.answer ?? NO_MARKS;
      const samples = new Map([...this.#counters].map(([id, { answer }]) => [id, answer ?? []]));
      this.#minimap.collect(this.store);
      this.#minimap.draw(scene, this.#theme, this.#palette);
      this.#tracks.draw(scene, this.#theme, this.#palette, marks.marks, samples);
      this.#names.draw(scene);
      this.#scrollbar.draw(scene);
      this.#alert.hidden ||= this.store.missing === 0 && this.#troubles === 0;
      if (this.#pointer !== null) this.#look(this.#pointer);
    }
    this.#head.draw(scene, this.#theme, state, this.#marks.answer ?? NO_MARKS);
    fill(this.#corner, this.#head.baseText);
    this.#overlay.draw(scene, this.#theme, state, this.#hovered);
    this.frames++;
    this.frameTime = performance.now() - began;
  }

  #ask() {
    const { items, sight } = { items: this.#scene.items(), sight: this.#scene.sight() };
    const { seen, soon } = planTiles(items, sight);
    this.store.want(seen, [...this.#minimap.missing(), ...soon]);
    this.#marks.need(sight.view, sight.duration);
    for (const item of items) if (item.kind === 'counter') this.#counters.get(item.counter.id)?.need(sight.view, sight.duration);
  }

  #recolour() {
    const { functions, state } = this.#page;
    this.#theme = readTheme(document.body);
    this.#palette = makePalette(functions, this.#theme.spans, state.search.group);
    this.#legend.draw(this.#theme);
    this.#minimap.refresh();
    this.#draw('tracks');
  }

  #resize() {
    const { clientWidth, clientHeight } = this.#root;
    const area = this.#tracks.canvas.getBoundingClientRect();
    const frame = this.#root.getBoundingClientRect();
    this.#scene.width = Math.max(1, clientWidth - (area.left - frame.left) - this.#scrollbar.width);
    this.#scene.height = Math.max(1, clientHeight - (area.top - frame.top));
    this.#scene.scale = window.devicePixelRatio || 1;
    this.#minimap.width = this.#scene.width;
    this.#recolour();
    this.#draw('sight');
  }

  #troubles = 0;

  /**
   * Says what went wrong, and tries again later.
   * @param {Error} error
   */
  #trouble(error) {
    this.#alert.textContent = error.message;
    this.#alert.hidden = false;
    if (this.#troubles++ > 0) return;
    window.setTimeout(() => {
      this.#troubles = 0;
      this.#draw('sight');
    }, TRY_AGAIN);
  }

  // -- where one looks ----------------------------------------------------------------------------------------------------

  /** @param {number} x */
  #timeAt(x) {
    const { from, to } = this.#page.state.view;
    return from + (x / this.#scene.width) * (to - from);
  }

  /** @param {number} factor */
  #zoom(factor) {
    const { state } = this.#page;
    state.setView(zoomed(state.view, factor, (state.view.from + state.view.to) / 2));
  }

  /** @param {'from' | 'to' | 'all'} edge */
  #go(edge) {
    const { state } = this.#page;
    const width = state.view.to - state.view.from;
    if (edge === 'all') state.setView({ from: 0, to: state.duration });
    else if (edge === 'from') state.setView({ from: 0, to: width });
    else state.setView({ from: state.duration - width, to: state.duration });
  }

  /** @param {string} key */
  #press(key) {
    const now = performance.now();
    if (!this.#keys.press(key, now)) return false;
    this.#moveByKeys(now); // at once: the key may be up again before the next frame
    return true;
  }

  /** @param {number} now */
  #moveByKeys(now) {
    const { state } = this.#page;
    state.setView(this.#keys.move(state.view, this.#timeAt(this.#pointer?.x ?? this.#scene.width / 2), now));
    this.#draw('sight');
  }

  /** @param {number} y */
  #scrollTo(y) {
    if (this.#scene.setScroll(y)) this.#draw('sight');
  }

  // -- what is chosen -----------------------------------------------------------------------------------------------------

  /** @param {'pan' | 'measure'} mode */
  #setMode(mode) {
    this.#mode = mode;
    for (const [name, toggle] of Object.entries(this.#modes)) toggle.setAttribute('aria-pressed', String(name === mode));
    this.#overlay.canvas.classList.toggle('measuring', mode === 'measure');
  }

  /** @param {Point} from @param {Point} to */
  #measure(from, to) {
    const { state } = this.#page;
    const [left, right] = [from.x, to.x].sort((a, b) => a - b).map((x) => Math.round(Math.min(Math.max(this.#timeAt(x), 0), state.duration)));
    const tracks = from.y < HEAD_HEIGHT ? null : this.#tracksBetween(from.y, to.y);
    if (left < right) state.setSelection({ from: left, to: right }, tracks);
  }

  /** @param {number} y @param {number} other */
  #tracksBetween(y, other) {
    const { layout, scroll } = this.#scene;
    const [first, last] = [y, other].sort((a, b) => a - b).map((at) => itemAt(layout, Math.max(at - HEAD_HEIGHT, 0) + scroll));
    const tracks = layout.items.slice(first, last + 1).flatMap((item) => (item.kind === 'track' ? [item.track.id] : []));
    return tracks.length > 0 ? tracks : null;
  }

  /** @param {Point} point @returns {DrawnPiece | null} */
  #pieceAt({ x, y }) {
    return y < HEAD_HEIGHT ? null : this.#tracks.pieceAt(this.#scene, x, y - HEAD_HEIGHT);
  }

  /** @param {Point} point */
  async #choose(point) {
    const { state } = this.#page;
    if (point.y < RULER_HEIGHT) return state.setSelection(null);
    const piece = this.#pieceAt(point);
    state.setSpan(piece && (await this.#spanOf(piece)));
  }

  /**
   * A piece's span; of merged ones the first.
   * @param {DrawnPiece} piece @returns {Promise<Place | null>}
   */
  async #spanOf({ track, depth, start, end, spans }) {
    if (spans === 1) return { track, depth, start, end };
    try {
      return await spanBeginningIn(this.#page.source, track, depth, { from: start, to: Math.max(end, start + 1) }, 'first');
    } catch (error) {
      this.#trouble(/** @type {Error} */ (error));
      return null;
    }
  }

  /** @param {Point} point */
  #zoomTo(point) {
    const { state } = this.#page;
    const piece = this.#pieceAt(point);
    if (piece === null) return;
    const { track, depth, start, end, spans } = piece;
    if (spans === 1) state.goTo({ track, depth, start, end });
    else state.setView({ from: start - (end - start) / 2, to: end + (end - start) / 2 });
  }

  /** @param {import('./walk_spans.js').Step} step */
  async #walk(step) {
    const { source, state, info } = this.#page;
    const place = state.span;
    const track = info.tracks.find(({ id }) => id === place?.track);
    if (place === null || track === undefined) return;
    try {
      const next = await walk(source, place, step, { from: track.first, to: track.last + 1 });
      if (next !== null && state.span === place) reveal(state, next);
    } catch (error) {
      this.#trouble(/** @type {Error} */ (error));
    }
  }

  #clear() {
    if (this.#page.state.span === null) return false;
    this.#page.state.setSpan(null);
    return true;
  }

  #fold() {
    const { state } = this.#page;
    if (state.span !== null) state.setFolded(state.span.track, !state.folded.has(state.span.track));
  }

  /** Brings the chosen span's row into view. */
  #showSpan() {
    this.#draw('overlay');
    const { state } = this.#page;
    if (state.span === null) return;
    const item = this.#scene.layout.byTrack.get(state.span.track);
    if (item === undefined) return;
    const hidden = item.folded && state.span.depth >= item.rows;
    if (hidden) state.setFolded(item.track.id, false);
    const top = item.top + TRACK_PADDING + state.span.depth * (hidden ? ROW_HEIGHT : item.rowHeight);
    const { scroll, height } = this.#scene;
    if (top < scroll || top + ROW_HEIGHT > scroll + height) this.#scrollTo(top - height / 2);
  }

  // -- the pointer --------------------------------------------------------------------------------------------------------

  /** @param {Point | null} point */
  #hover(point) {
    this.#pointer = point;
    this.#page.state.setCursor(point === null ? null : this.#timeAt(point.x));
    if (point === null) {
      this.#hovered = null;
      this.#tooltip.hide();
    } else this.#look(point);
    this.#draw('overlay');
  }

  /** @param {Point} point */
  #look(point) {
    this.#hovered = this.#pieceAt(point);
    const lines = this.#hovered === null ? this.#wordsOfHead(point) : this.#wordsOf(this.#hovered);
    const canvas = this.#overlay.canvas;
    if (lines === null || canvas.classList.contains('dragging')) this.#tooltip.hide();
    else this.#tooltip.show(lines, canvas.offsetLeft + point.x, canvas.offsetTop + point.y);
  }

  /** @param {Point} point */
  #wordsOfHead({ x, y }) {
    if (y >= HEAD_HEIGHT) return null;
    if (y >= RULER_HEIGHT) return HeadCanvas.wordsAt(this.#scene, x, this.#marks.answer ?? NO_MARKS);
    return [formatTime(Math.round(this.#timeAt(x)), Math.max(1, this.#scene.nsPerPixel))];
  }

  /** @param {DrawnPiece} piece */
  #wordsOf({ function: fn, start, end, spans, flags }) {
    const name = this.#page.functions[fn]?.name ?? '?';
    const at = `at ${formatTime(start)}`;
    if (spans > 1) return [`${formatCount(spans)} calls`, `longest: ${name}`, `together ${formatDuration(end - start)}`, at];
    const more = [];
    if (flags & 1) more.push('began before it was seen');
    if (flags & 2) more.push('its end was not seen');
    if (flags & 4) more.push('goes across a gap');
    return [name, formatDuration(end - start), at, ...more];
  }

  /** For tests and for looking into it: what is drawn, and what it costs. */
  get facts() {
    const { missing, requests, bytes, count } = this.store;
    const { pieces, names } = this.#tracks;
    return { frames: this.frames, frameTime: this.frameTime, pieces, names, missing, requests, bytes, tiles: count, scroll: this.#scene.scroll };
  }

  drawn() {
    return this.#tracks.drawn(this.#scene);
  }

  /** Whether all that changed has been drawn. */
  get isIdle() {
    return !this.#scheduled;
  }

  /**
   * Where a moment of a track's row is drawn, in CSS pixels from the upper left corner of the ruler: the middle of the row.
   * @param {number} track @param {number} depth @param {number} time
   */
  pointOf(track, depth, time) {
    const item = this.#scene.layout.byTrack.get(track);
    if (item === undefined) return null;
    const row = item.top + TRACK_PADDING + (depth + 0.5) * item.rowHeight;
    return { x: this.#scene.xOf(time), y: HEAD_HEIGHT + row - this.#scene.scroll };
  }
}

/**
 * @param {{timeline: HTMLElement, toolbar: HTMLElement, live: HTMLElement}} places @param {Page} page
 */
export function makeTimeline(places, page) {
  return new Timeline(places, page);
}
