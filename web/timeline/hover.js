// What is under the pointer: outlined, described beside it, and its moment set as the page's cursor.

import { FLAG_ACROSS_GAP, FLAG_END_INFERRED, FLAG_START_INFERRED } from '../data/source.js';
import { formatCount, formatDuration, formatLength, formatTime } from '../format.js';
import { HeadCanvas } from './head_canvas.js';
import { HEAD_HEIGHT, RULER_HEIGHT } from './scene.js';

/** @typedef {import('../function_names.js').FunctionNames} FunctionNames */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('./head_canvas.js').Marks} Marks */
/** @typedef {import('./pointer.js').Point} Point */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./tooltip.js').Tooltip} Tooltip */
/** @typedef {import('./tracks_canvas.js').DrawnTile} DrawnTile */

/**
 * @param {DrawnTile} tile @param {FunctionNames} names
 * @returns {string[]} lines, the first the most important
 */
export function wordsOf({ function: fn, start, end, spans, flags }, names) {
  const name = names.of(fn) || '?';
  const at = `at ${formatTime(start)}`;
  if (spans > 1) return [`${formatCount(spans)} calls`, `longest: ${name}`, `together ${formatDuration(end - start)}`, at];
  const lines = [name, formatLength(end - start), at];
  if (flags & FLAG_START_INFERRED) lines.push('its beginning was not seen');
  if (flags & FLAG_END_INFERRED) lines.push('its end was not seen');
  if (flags & FLAG_ACROSS_GAP) lines.push('goes across a gap');
  return lines;
}

export class Hover {
  /** @type {Point | null} of the pointer */
  point = null;
  /** @type {DrawnTile | null} */
  tile = null;
  #parts;

  /**
   * @param {{state: ViewState, scene: Scene, names: FunctionNames, tooltip: Tooltip, overlay: HTMLElement,
   *   tileAt: (point: Point) => DrawnTile | null, marks: () => Marks}} parts
   */
  constructor(parts) {
    this.#parts = parts;
  }

  /** @param {Point | null} point null: the pointer has left */
  move(point) {
    const { state, scene } = this.#parts;
    this.point = point;
    state.setCursor(point === null ? null : scene.timeAt(point.x));
    this.look();
  }

  /** Looks again: what is drawn has changed under the pointer. */
  look() {
    const { tooltip, overlay, names, tileAt } = this.#parts;
    const { point } = this;
    this.tile = point && tileAt(point);
    const lines = this.tile ? wordsOf(this.tile, names) : point && this.#wordsOfHead(point);
    if (point === null || lines === null || overlay.classList.contains('dragging')) tooltip.hide();
    else tooltip.show(lines, overlay.offsetLeft + point.x, overlay.offsetTop + point.y);
  }

  /** @param {Point} point */
  #wordsOfHead({ x, y }) {
    const { scene, marks } = this.#parts;
    if (y >= HEAD_HEIGHT) return null;
    if (y >= RULER_HEIGHT) return HeadCanvas.wordsAt(scene, x, marks());
    return [formatTime(Math.round(scene.timeAt(x)), Math.max(1, scene.nsPerPixel))];
  }
}
