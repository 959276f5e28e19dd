// Choosing: spans by clicks and by walking from one to the next, ranges by dragging, tracks by folding.

import { reveal } from '../panels/walk.js';
import { itemAt, makeLayout, ROW_HEIGHT, TRACK_PADDING } from './layout.js';
import { HEAD_HEIGHT, RULER_HEIGHT } from './scene.js';
import { placesOf } from './stack_tracks.js';
import { spanBeginningIn, walk } from './walk_spans.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('./pointer.js').Point} Point */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./tracks_canvas.js').DrawnTile} DrawnTile */

const EDGE = 5; // CSS pixels around an edge that mean it

export class Choice {
  #parts;
  /**
   * The tracks of the range whose edge is dragged; null: all, or another range is measured.
   * @type {number[] | null}
   */
  #measured = null;

  /**
   * @param {{source: DataSource, state: ViewState, info: TraceInfo, scene: Scene, tileAt: (point: Point) => DrawnTile | null,
   *   scrollTo: (y: number) => void, failed: (error: Error) => void}} parts
   */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * Where measuring begins that is begun at a point: there, or, at an edge of the measured range, at its other edge.
   * @param {Point} point @returns {Point}
   */
  beginMeasuring(point) {
    const edge = this.edgeAt(point);
    this.#measured = edge === null ? null : this.#parts.state.selection?.tracks ?? null;
    return edge === null ? point : { x: edge.other, y: point.y };
  }

  /**
   * The edge of the measured range that a point of the ruler means: where the other one is. null: none.
   * @param {Point} point @returns {{other: number} | null}
   */
  edgeAt({ x, y }) {
    const { state, scene } = this.#parts;
    if (state.selection === null || y >= RULER_HEIGHT) return null;
    const [from, to] = [scene.xOf(state.selection.range.from), scene.xOf(state.selection.range.to)];
    if (Math.abs(x - from) <= EDGE) return { other: to };
    return Math.abs(x - to) <= EDGE ? { other: from } : null;
  }

  /** @param {Point} from @param {Point} to */
  measure(from, to) {
    const { state, scene } = this.#parts;
    /** @param {number} x */
    const time = (x) => Math.round(Math.min(Math.max(scene.timeAt(x), 0), state.duration));
    const [left, right] = [time(Math.min(from.x, to.x)), time(Math.max(from.x, to.x))];
    if (left < right) state.setSelection({ from: left, to: right }, from.y < HEAD_HEIGHT ? this.#measured : this.#tracksBetween(from.y, to.y));
  }

  /** @param {number} y @param {number} other */
  #tracksBetween(y, other) {
    const { layout, scroll } = this.#parts.scene;
    /** @param {number} at */
    const number = (at) => itemAt(layout, Math.max(at - HEAD_HEIGHT, 0) + scroll);
    const items = layout.items.slice(number(Math.min(y, other)), number(Math.max(y, other)) + 1);
    const tracks = items.flatMap((item) => (item.kind === 'track' && item.track.kind !== 'stack' ? [item.track.id] : []));
    return tracks.length > 0 ? tracks : null;
  }

  /** @param {Point} point */
  async click(point) {
    const { state, tileAt } = this.#parts;
    if (point.y < RULER_HEIGHT) {
      state.setSelection(null);
      return;
    }
    const tile = tileAt(point);
    state.setSpan(tile && (await this.#spanOf(tile)));
  }

  /**
   * A tile's span; of merged ones the first.
   * @param {DrawnTile} tile @returns {Promise<Place | null>}
   */
  async #spanOf({ track, depth, start, end, spans }) {
    if (spans === 1) return { track, depth, start, end };
    const range = { from: start, to: Math.max(end, start + 1) };
    return this.#report(spanBeginningIn(this.#parts.source, track, depth, range, 'first'));
  }

  /**
   * An answer; null when it failed, which is shown.
   * @template Answer @param {Promise<Answer>} answer @returns {Promise<Answer | null>}
   */
  async #report(answer) {
    try {
      return await answer;
    } catch (error) {
      this.#parts.failed(/** @type {Error} */ (error));
      return null;
    }
  }

  /** @param {Point} point */
  doubleClick(point) {
    const { state, tileAt } = this.#parts;
    const tile = tileAt(point);
    if (tile === null) return;
    const { track, depth, start, end, spans } = tile;
    if (spans === 1) state.goTo({ track, depth, start, end });
    else state.setView({ from: start - (end - start) / 2, to: end + (end - start) / 2 });
  }

  zoomToSpan() {
    const { state } = this.#parts;
    if (state.span !== null) state.goTo(state.span);
  }

  /** @param {import('./walk_spans.js').Step} step */
  async walk(step) {
    const { source, state, info } = this.#parts;
    const place = state.span;
    const track = info.tracks.find(({ id }) => id === place?.track);
    if (place === null || track === undefined) return;
    const next = await this.#report(walk(source, place, step, { from: track.first, to: track.last + 1 }));
    if (next !== null && state.span === place) reveal(state, next);
  }

  /** @returns {boolean} false: no span was chosen */
  clear() {
    const { state } = this.#parts;
    if (state.span === null) return false;
    state.setSpan(null);
    return true;
  }

  /** Folds the track of the chosen span, or unfolds it. */
  fold() {
    const { state } = this.#parts;
    if (state.span !== null) state.setFolded(state.span.track, !state.folded.has(state.span.track));
  }

  /** Pins the track of the chosen span above all others, or lets it go back to its place. */
  pin() {
    const { state } = this.#parts;
    if (state.span !== null) state.setPinned(state.span.track, !state.pinned.has(state.span.track));
  }

  /**
   * Whether its row is in view in the track of its stack, where it may have been chosen.
   * @param {Place} place
   */
  #isSeenOnStack(place) {
    const { scene } = this.#parts;
    return placesOf(scene, place).some(({ item, from, to }) => {
      const top = item.top + TRACK_PADDING + place.depth * item.rowHeight;
      const isRowSeen = place.depth < item.rows && top >= scene.scroll && top + item.rowHeight <= scene.scroll + scene.height;
      return item.track.kind === 'stack' && isRowSeen && from < scene.view.to && to > scene.view.from;
    });
  }

  /** Brings the chosen span's row into view. */
  showSpan() {
    const { state, info, scene, scrollTo } = this.#parts;
    if (state.span === null) return;
    const { track, depth } = state.span;
    if (!info.tracks.some(({ id }) => id === track) || this.#isSeenOnStack(state.span)) return;
    const arrange = () => {
      scene.layout = makeLayout(info, state);
      return scene.layout.byTrack.get(track);
    };
    if (arrange() === undefined) state.setFilter('');
    if (arrange()?.folded && depth >= (arrange()?.rows ?? 0)) state.setFolded(track, false);
    if (depth >= (arrange()?.rows ?? 0)) state.setTall(track, true);
    const item = arrange();
    if (item === undefined) return;
    const top = item.top + TRACK_PADDING + depth * item.rowHeight;
    if (top < scene.scroll || top + ROW_HEIGHT > scene.scroll + scene.height) scrollTo(top - scene.height / 2);
  }
}
