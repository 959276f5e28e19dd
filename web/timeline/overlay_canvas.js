// Draws what lies over ruler and tracks and changes often: chosen span and the one under the pointer, measured range, flags, cursor.

import { formatDuration } from '../format.js';
import { TRACK_PADDING } from './layout.js';
import { placesOf } from './stack_tracks.js';
import { contextOf, HEAD_HEIGHT, RULER_HEIGHT, sizeCanvas } from './scene.js';

/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */

const TEXT_SIZE = 11;
const SHADE = 0.4; // opacity of what is not measured

export class OverlayCanvas {
  #context;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.#context = contextOf(canvas);
  }

  /** @param {Scene} scene @param {Theme} theme @param {ViewState} state @param {Place | null} hovered */
  draw(scene, theme, state, hovered) {
    const height = HEAD_HEIGHT + scene.height;
    const context = this.#context;
    if (!sizeCanvas(this.canvas, scene.width, height, scene.scale)) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    }
    context.setTransform(scene.scale, 0, 0, scene.scale, 0, 0);
    context.font = `600 ${TEXT_SIZE}px ${theme.font}`;
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    context.save();
    context.beginPath();
    context.rect(0, HEAD_HEIGHT, scene.width, scene.height);
    context.clip();
    if (hovered) this.#outline(scene, hovered, theme.css['line-strong'], 1);
    if (state.span) this.#outline(scene, state.span, theme.css.text, 2);
    context.restore();
    if (state.selection) this.#selection(scene, theme, state.selection, height);
    context.fillStyle = theme.css.flag;
    for (const { time } of state.flags) this.#line(scene, time, height);
    if (state.cursor !== null) {
      context.fillStyle = theme.css['line-strong'];
      this.#line(scene, state.cursor, height);
    }
  }

  /** @param {Scene} scene @param {number} time @param {number} height */
  #line(scene, time, height) {
    const x = Math.round(scene.xOf(time));
    if (x >= 0 && x < scene.width) this.#context.fillRect(x, RULER_HEIGHT, 1, height - RULER_HEIGHT);
  }

  /** @param {Scene} scene @param {Place} place @param {string} colour @param {number} width */
  #outline(scene, place, colour, width) {
    const context = this.#context;
    context.strokeStyle = colour;
    context.lineWidth = width;
    for (const { item, from, to } of placesOf(scene, place)) {
      if (place.depth >= item.rows) continue;
      const y = HEAD_HEIGHT + item.top + TRACK_PADDING + place.depth * item.rowHeight - scene.scroll;
      const left = Math.max(scene.xOf(from), -4);
      const right = Math.min(scene.xOf(to), scene.width + 4);
      if (right < 0 || left > scene.width) continue;
      context.strokeRect(left - width / 2, y - width / 2, Math.max(right - left, 2) + width, item.rowHeight - 1 + width);
    }
  }

  /**
   * Shades all but the measured range of the measured tracks, and writes its length.
   * @param {Scene} scene @param {Theme} theme @param {NonNullable<ViewState['selection']>} selection @param {number} height
   */
  #selection(scene, theme, { range: { from, to }, tracks }, height) {
    const context = this.#context;
    const left = Math.min(Math.max(scene.xOf(from), -2), scene.width + 2);
    const right = Math.min(Math.max(scene.xOf(to), -2), scene.width + 2);
    context.fillStyle = theme.css.shade;
    context.globalAlpha = SHADE;
    for (const item of scene.items()) {
      const top = Math.max(HEAD_HEIGHT + item.top - scene.scroll, HEAD_HEIGHT);
      const bottom = HEAD_HEIGHT + item.top + item.height - scene.scroll;
      const chosen = tracks === null || (item.kind === 'track' && tracks.includes(item.track.id));
      if (!chosen) context.fillRect(0, top, scene.width, bottom - top);
      else {
        context.fillRect(0, top, left, bottom - top);
        context.fillRect(right, top, scene.width - right, bottom - top);
      }
    }
    context.globalAlpha = 1;
    context.fillStyle = theme.css.accent;
    for (const x of [left, right]) if (x >= 0 && x <= scene.width) context.fillRect(Math.round(x) - 1, 0, 2, height);
    const shown = { left: Math.max(left, 0), right: Math.min(right, scene.width) };
    if (shown.right < shown.left) return;
    this.#tag(formatDuration(to - from), (shown.left + shown.right) / 2, RULER_HEIGHT / 2, scene, theme);
  }

  /** @param {string} text @param {number} x @param {number} y @param {Scene} scene @param {Theme} theme */
  #tag(text, x, y, scene, theme) {
    const context = this.#context;
    const width = context.measureText(text).width + 12;
    const middle = Math.min(Math.max(x, width / 2), scene.width - width / 2);
    context.fillStyle = theme.css.accent;
    context.fillRect(middle - width / 2, y - 9, width, 18);
    context.fillStyle = theme.css['on-accent'];
    context.fillText(text, middle, y + 0.5);
  }
}
