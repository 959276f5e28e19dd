// The timeline: tracks, ruler, marks, minimap. Makes its parts, listens for changes, and draws what has changed in the browser's
// frames; when nothing has changed it draws nothing.

import { element, fill } from '../panels/dom.js';
import { announceSpans } from './announcer.js';
import { MOST_ARROWS } from './arrows.js';
import { Choice } from './choice.js';
import { makeHitPalette, makePalette } from './colours.js';
import { HeadCanvas } from './head_canvas.js';
import { Hover } from './hover.js';
import { makeLayout, TRACK_PADDING } from './layout.js';
import { Legend } from './legend.js';
import { Minimap } from './minimap.js';
import { listenToMinimap } from './minimap_pointer.js';
import { HeldKeys, panned, zoomed } from './motion.js';
import { Names } from './names.js';
import { OverlayCanvas } from './overlay_canvas.js';
import { listenToPointer } from './pointer.js';
import { RangeData } from './range_data.js';
import { HEAD_HEIGHT, Scene } from './scene.js';
import { Scrollbar } from './scrollbar.js';
import { readTheme } from './theme.js';
import { planRequests } from './request_plan.js';
import { placeParts, tracksOfStacks } from './stack_tracks.js';
import { TileStore } from './tile_store.js';
import { listenToTimelineKeys } from './timeline_keys.js';
import { makeToolbar } from './toolbar.js';
import { makeTrackTools } from './track_tools.js';
import { Tooltip } from './tooltip.js';
import { TracksCanvas } from './tracks_canvas.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('./head_canvas.js').Marks} Marks */
/** @typedef {import('./pointer.js').Point} Point */
/** @typedef {{source: DataSource, state: ViewState, info: TraceInfo, functions: FunctionInfo[],
 *   stacks: import('../data/source.js').Stack[], names: import('../function_names.js').FunctionNames,
 *   colours: import('../function_colours.js').FunctionColours}} Page */
/**
 * @typedef {'sight' | 'tracks' | 'overlay'} Stale what a frame has to do: all, since something else is seen; draw the tracks again;
 *   draw only what lies over them
 */

const MOST_MARKS = 1000;
const PIXELS_OF_RANGE = 12; // of a range of parts that is asked for, to a pixel of the view
const TRY_AGAIN = 3500; // ms
const PAGE_SHARE = 0.9; // of the height that a page scrolls
/** @type {Marks} */
const NO_MARKS = { marks: [], hits: [] };
const LABEL = 'Timeline. W and S zoom, A and D move. With a chosen span, arrows walk to its caller, callee and neighbours.';

class Timeline {
  #page;
  /** The trace with the tracks of its stacks, too. */
  #shown;
  #stackTracks;
  #root;
  #scene;
  #theme;
  #palettes;
  /**
   * The group that the palettes make stand out.
   * @type {number | null}
   */
  #searched = null;
  #store;
  #marks;
  /** @type {RangeData<{switches: import('../data/source.js').Switch[], more: boolean}>} */
  #switches;
  /** @type {RangeData<{parts: import('../data/source.js').StackPart[]}>} */
  #parts;
  #counters;
  #minimap;
  #head;
  #tracks;
  #overlay;
  #names;
  #scrollbar;
  #hover;
  #choice;
  #toolbar;
  #legend = new Legend();
  #base = element('span', { class: 'base' });
  #alert = element('p', { class: 'trouble', role: 'alert', hidden: true });
  #keys = new HeldKeys();
  /** @type {import('./toolbar.js').Mode} */
  #mode = 'pan';
  /** @type {Set<Stale>} */
  #stale = new Set();
  #scheduled = false;
  /** Whether something failed that is tried again later. */
  #waits = false;
  #frames = 0;
  #frameTime = 0;

  /** @param {{timeline: HTMLElement, toolbar: HTMLElement, live: HTMLElement}} places @param {Page} page */
  constructor(places, page) {
    const { source, state, info } = page;
    this.#page = page;
    this.#stackTracks = tracksOfStacks(page.stacks, info.tracks, page.functions);
    this.#shown = { ...info, tracks: [...info.tracks, ...this.#stackTracks] };
    this.#root = places.timeline;
    this.#scene = new Scene(makeLayout(this.#shown, state), info.duration);
    this.#theme = readTheme(document.body);
    this.#palettes = this.#makePalettes();

    const handlers = {
      arrived: () => this.#draw('tracks'),
      failed: (/** @type {Error} */ error) => this.#trouble(error),
    };
    this.#store = new TileStore(source, info.duration, handlers);
    this.#marks = new RangeData((range, signal) => source.marks(range, MOST_MARKS, signal), handlers);
    this.#switches = new RangeData((range, signal) => source.switches(range, MOST_ARROWS, signal), handlers);
    this.#parts = this.#partsData(handlers);
    this.#counters = new Map(info.counters.map(({ id }) => [id, this.#counterData(id, handlers)]));

    this.#minimap = new Minimap(element('canvas', { class: 'minimap', role: 'img', 'aria-label': 'The whole trace in small' }), info.tracks, info.duration);
    this.#head = new HeadCanvas(element('canvas', { class: 'head', 'aria-hidden': 'true' }));
    this.#tracks = new TracksCanvas(element('canvas', { class: 'tracks', 'aria-hidden': 'true' }), this.#store, page.names);
    this.#overlay = new OverlayCanvas(element('canvas', { class: 'overlay', tabindex: 0, role: 'application', 'aria-label': LABEL }));
    const names = element('div', { class: 'names', role: 'group', 'aria-label': 'Tracks' });
    this.#names = new Names(names, state, this.#shown.tracks);
    this.#scrollbar = new Scrollbar((y) => this.#scrollTo(y));
    fill(
      this.#root,
      element('div', { class: 'corner' }, this.#legend.element), this.#minimap.canvas,
      element('div', { class: 'corner tools' }, makeTrackTools(state), this.#base), this.#head.canvas,
      names, this.#tracks.canvas, this.#scrollbar.element,
      this.#overlay.canvas, this.#alert,
    );

    const tileAt = (/** @type {Point} */ { x, y }) => (y < HEAD_HEIGHT ? null : this.#tracks.tileAt(this.#scene, x, y - HEAD_HEIGHT));
    this.#hover = new Hover({
      state, tileAt,
      names: page.names,
      scene: this.#scene,
      tooltip: new Tooltip(this.#root),
      overlay: this.#overlay.canvas,
      marks: () => this.#marks.answer ?? NO_MARKS,
    });
    this.#choice = new Choice({ source, state, tileAt, info: this.#shown, scene: this.#scene, scrollTo: (y) => this.#scrollTo(y), failed: handlers.failed });
    this.#toolbar = makeToolbar(places.toolbar, state, {
      setMode: (mode) => this.#setMode(mode),
      zoom: (factor) => this.#zoom(factor),
      showAll: () => this.#go('all'),
      foldAll: (folded) => this.#shown.tracks.forEach(({ id }) => state.setFolded(id, folded)),
    });
    announceSpans(places.live, source, state, info);
    this.#legend.draw(this.#theme, this.#page.state.colours);
    this.#setMode('pan');
    this.#listen();
    this.#resize();
  }

  /** @param {number} id @param {{arrived: () => void, failed: (error: Error) => void}} handlers */
  #counterData(id, handlers) {
    const { source } = this.#page;
    return new RangeData((range, signal) => source.counter(id, range, Math.ceil(3 * this.#scene.width), signal), handlers);
  }

  /** @param {{arrived: () => void, failed: (error: Error) => void}} handlers @returns {RangeData<{parts: import('../data/source.js').StackPart[]}>} */
  #partsData({ failed }) {
    const { source } = this.#page;
    const arrived = () => {
      placeParts(this.#stackTracks, this.#parts.answer?.parts ?? []);
      this.#draw('sight');
    };
    // The range may be many times wider than the view.
    return new RangeData((range, signal) => {
      const resolution = (range.to - range.from) / (PIXELS_OF_RANGE * this.#scene.width * this.#scene.scale);
      return source.parts(range, this.#stackTracks.length, resolution, signal);
    }, { arrived, failed });
  }

  #listen() {
    const { state } = this.#page;
    const view = () => state.view;
    const setView = (/** @type {import('../data/source.js').Range} */ range) => state.setView(range);
    const timeAt = (/** @type {number} */ x) => this.#timeAt(x);
    const scroll = (/** @type {number} */ by) => this.#scrollTo(this.#scene.scroll + by);
    for (const event of ['view', 'tracks']) state.addEventListener(event, () => this.#draw('sight'));
    for (const event of ['selection', 'flags', 'span']) state.addEventListener(event, () => this.#draw('overlay'));
    state.addEventListener('theme', () => this.#recolour());
    this.#page.colours.addEventListener('change', () => this.#recolour());
    state.addEventListener('names', () => {
      this.#tracks.renameFunctions();
      this.#draw('tracks');
    });
    state.addEventListener('search', () => {
      if (state.search.group !== this.#searched) this.#recolour();
    });
    state.addEventListener('span', () => this.#choice.showSpan());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#recolour());
    new ResizeObserver(() => this.#resize()).observe(this.#root);
    listenToMinimap(this.#minimap.canvas, { view, setView, timeAt: (x) => this.#minimap.timeAt(x) });
    listenToPointer(this.#overlay.canvas, {
      view, setView, timeAt, scroll,
      width: () => this.#scene.width,
      mode: () => this.#mode,
      beginMeasuring: (point) => this.#choice.beginMeasuring(point),
      measure: (from, to) => this.#choice.measure(from, to),
      click: (point) => this.#choice.click(point),
      doubleClick: (point) => this.#choice.doubleClick(point),
      hover: (point) => this.#moveTo(point),
    });
    listenToTimelineKeys(this.#overlay.canvas, {
      scroll,
      press: (key) => this.#press(key),
      release: (key) => this.#keys.release(key),
      releaseAll: () => this.#keys.releaseAll(),
      walk: (step) => this.#choice.walk(step),
      hasSpan: () => state.span !== null,
      pan: (share) => setView(panned(state.view, share)),
      page: (pages) => scroll(pages * PAGE_SHARE * this.#scene.height),
      go: (edge) => this.#go(edge),
      zoomToSpan: () => this.#choice.zoomToSpan(),
      setMode: (mode) => this.#setMode(mode),
      clear: () => this.#choice.clear(),
      fold: () => this.#choice.fold(),
      pin: () => this.#choice.pin(),
    });
  }

  // -- what is drawn ------------------------------------------------------------------------------------------------------

  /** @param {Stale} what */
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
    const { state } = this.#page;
    if (this.#keys.any) this.#moveByKeys(now);
    const sight = this.#stale.has('sight');
    const tracks = sight || this.#stale.has('tracks');
    this.#stale.clear();
    if (this.#keys.any) this.#draw('sight');
    if (sight) {
      this.#scene.view = state.view;
      this.#scene.layout = makeLayout(this.#shown, state);
      this.#scene.setScroll(this.#scene.scroll);
      this.#ask();
    }
    if (tracks) this.#drawTracks();
    this.#head.draw(this.#scene, this.#theme, state, this.#marks.answer ?? NO_MARKS);
    this.#base.textContent = this.#head.baseText;
    this.#overlay.draw(this.#scene, this.#theme, state, this.#hover.tile);
    this.#frames++;
    this.#frameTime = performance.now() - began;
  }

  #drawTracks() {
    const scene = this.#scene;
    const { marks } = this.#marks.answer ?? NO_MARKS;
    const samples = new Map([...this.#counters].map(([id, { answer }]) => [id, answer ?? []]));
    this.#minimap.collect(this.#store);
    this.#minimap.draw(scene, this.#theme, this.#palettes.calls);
    this.#tracks.draw(scene, this.#theme, this.#palettes, marks, samples, this.#arrows());
    this.#names.draw(scene);
    this.#scrollbar.draw(scene);
    this.#hover.look();
    if (!this.#waits) this.#alert.hidden = true;
  }

  /** The switches of stacks, unless there are too many to be distinguished. */
  #arrows() {
    const { answer } = this.#switches;
    return answer === null || answer.more ? [] : answer.switches;
  }

  /** Asks for what is seen, and for what may be seen next. */
  #ask() {
    const items = this.#scene.items();
    const sight = this.#scene.sight();
    if (this.#stackTracks.length > 0) this.#parts.need(sight.view, sight.duration);
    const { seen, soon } = planRequests(items, sight);
    this.#store.want(seen, [...this.#minimap.missing(), ...soon]);
    this.#marks.need(sight.view, sight.duration);
    if (this.#page.info.switchCount > 0) this.#switches.need(sight.view, sight.duration);
    for (const item of items) if (item.kind === 'counter') this.#counters.get(item.counter.id)?.need(sight.view, sight.duration);
  }

  #makePalettes() {
    const { functions, state, colours } = this.#page;
    this.#searched = state.search.group;
    return {
      calls: makePalette(functions, this.#theme.spans, this.#searched, colours.paint(this.#theme.spans)),
      hits: makeHitPalette(functions.length, this.#theme.spans),
    };
  }

  #recolour() {
    this.#theme = readTheme(document.body);
    this.#palettes = this.#makePalettes();
    this.#legend.draw(this.#theme, this.#page.state.colours);
    this.#minimap.refresh();
    this.#draw('tracks');
  }

  #resize() {
    const scene = this.#scene;
    const { clientWidth, clientHeight } = this.#root;
    const { offsetLeft, offsetTop } = this.#tracks.canvas;
    scene.width = Math.max(1, clientWidth - offsetLeft - this.#scrollbar.width);
    scene.height = Math.max(1, clientHeight - offsetTop);
    scene.scale = window.devicePixelRatio || 1;
    this.#minimap.width = scene.width;
    this.#draw('sight');
  }

  /**
   * Says what went wrong, and tries again later.
   * @param {Error} error
   */
  #trouble(error) {
    this.#alert.textContent = error.message;
    this.#alert.hidden = false;
    if (this.#waits) return;
    this.#waits = true;
    window.setTimeout(() => {
      this.#waits = false;
      this.#draw('sight');
    }, TRY_AGAIN);
  }

  // -- where one looks ----------------------------------------------------------------------------------------------------

  /** @param {number} x @returns {number} of the view that is set, which may be newer than what is drawn */
  #timeAt(x) {
    const { from, to } = this.#page.state.view;
    return from + (x / this.#scene.width) * (to - from);
  }

  /** @param {number} factor */
  #zoom(factor) {
    const { state } = this.#page;
    state.setView(zoomed(state.view, factor, this.#timeAt(this.#scene.width / 2)));
  }

  /** @param {'from' | 'to' | 'all'} edge */
  #go(edge) {
    const { state } = this.#page;
    const width = state.view.to - state.view.from;
    if (edge === 'all') state.setView({ from: 0, to: state.duration });
    else if (edge === 'from') state.setView({ from: 0, to: width });
    else state.setView({ from: state.duration - width, to: state.duration });
  }

  /** @param {string} key @returns {boolean} false: it does not move anything */
  #press(key) {
    const now = performance.now();
    if (!this.#keys.press(key, now)) return false;
    this.#moveByKeys(now); // at once: the key may be up again before the next frame
    this.#draw('sight');
    return true;
  }

  /** @param {number} now */
  #moveByKeys(now) {
    const { state } = this.#page;
    state.setView(this.#keys.move(state.view, this.#timeAt(this.#hover.point?.x ?? this.#scene.width / 2), now));
  }

  /** @param {number} y */
  #scrollTo(y) {
    if (this.#scene.setScroll(y)) this.#draw('sight');
  }

  /** @param {Point | null} point */
  #moveTo(point) {
    this.#hover.move(point);
    this.#overlay.canvas.classList.toggle('on-edge', point !== null && this.#choice.edgeAt(point) !== null);
    this.#draw('overlay');
  }

  /** @param {import('./toolbar.js').Mode} mode */
  #setMode(mode) {
    this.#mode = mode;
    this.#toolbar.show(mode);
    this.#overlay.canvas.classList.toggle('measuring', mode === 'measure');
  }

  // -- for tests, and for looking into it -----------------------------------------------------------------------------------

  /** What is drawn, and what it costs: times in ms. */
  get facts() {
    const { missing, requests, bytes, count } = this.#store;
    const { tiles, names, unloaded, arrows, bars } = this.#tracks;
    const { scroll } = this.#scene;
    return { frames: this.#frames, frameTime: this.#frameTime, tiles, names, unloaded, arrows, bars, missing, requests, bytes, ranges: count, scroll };
  }

  /** All tiles that are seen. */
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

/** @param {{timeline: HTMLElement, toolbar: HTMLElement, live: HTMLElement}} places @param {Page} page */
export function makeTimeline(places, page) {
  return new Timeline(places, page);
}
