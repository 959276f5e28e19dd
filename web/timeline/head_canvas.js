// Draws what stands above the tracks: the ruler with the flags and the measured range, and the row of marks.

import { formatDuration } from '../format.js';
import { makeTicks } from './ruler_ticks.js';
import { contextOf, HEAD_HEIGHT, MARKS_HEIGHT, RULER_HEIGHT, sizeCanvas } from './scene.js';

/** @typedef {import('../data/source.js').Mark} Mark */
/** @typedef {import('../data/source.js').Hit} Hit */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {{marks: Mark[], hits: Hit[]}} Marks */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */

const TICK_WIDTH = 110; // CSS pixels between two ticks at least
const TEXT_SIZE = 11;
const NEAR = 5; // CSS pixels between the pointer and a mark that is meant
const MARK_SIZE = 5;

export class HeadCanvas {
  #context;
  /** The time that the ruler's labels count from, in words; '' when it is 0. */
  baseText = '';

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.#context = contextOf(canvas, { alpha: false });
  }

  /** @param {Scene} scene @param {Theme} theme @param {ViewState} state @param {Marks} marks */
  draw(scene, theme, state, marks) {
    sizeCanvas(this.canvas, scene.width, HEAD_HEIGHT, scene.scale);
    const context = this.#context;
    context.setTransform(scene.scale, 0, 0, scene.scale, 0, 0);
    context.font = `${TEXT_SIZE}px ${theme.font}`;
    context.textBaseline = 'middle';
    context.fillStyle = theme.css['ground-raised'];
    context.fillRect(0, 0, scene.width, HEAD_HEIGHT);
    if (state.selection) this.#selection(scene, theme, state.selection.range);
    this.#ticks(scene, theme);
    this.#marks(scene, theme, marks);
    for (const flag of state.flags) this.#flag(scene, theme, flag);
    context.fillStyle = theme.css.line;
    context.fillRect(0, RULER_HEIGHT, scene.width, 1);
    context.fillRect(0, HEAD_HEIGHT - 1, scene.width, 1);
  }

  /** @param {Scene} scene @param {Theme} theme */
  #ticks(scene, theme) {
    const context = this.#context;
    const { ticks, baseText, step } = makeTicks(scene.view, TICK_WIDTH * scene.nsPerPixel);
    this.baseText = baseText;
    context.fillStyle = theme.css['line-strong'];
    for (const { time } of ticks) {
      const x = Math.round(scene.xOf(time));
      context.fillRect(x, RULER_HEIGHT - 10, 1, 10);
      for (let part = 1; part < 5; part++) context.fillRect(Math.round(scene.xOf(time + (step * part) / 5)), RULER_HEIGHT - 4, 1, 4);
    }
    context.fillStyle = theme.css.text;
    for (const { time, text } of ticks) {
      const x = Math.round(scene.xOf(time)) + 4;
      if (x + context.measureText(text).width <= scene.width) context.fillText(text, x, RULER_HEIGHT / 2 - 2);
    }
  }

  /** @param {Scene} scene @param {Theme} theme @param {{from: number, to: number}} range */
  #selection(scene, theme, { from, to }) {
    const context = this.#context;
    const left = scene.xOf(from);
    const right = scene.xOf(to);
    context.fillStyle = theme.css['accent-ground'];
    context.fillRect(left, 0, right - left, RULER_HEIGHT);
  }

  /** @param {Scene} scene @param {Theme} theme @param {Marks} marks */
  #marks(scene, theme, { marks, hits }) {
    const context = this.#context;
    const middle = RULER_HEIGHT + MARKS_HEIGHT / 2;
    for (const { time, kind } of marks) {
      const x = scene.xOf(time);
      if (x < -MARK_SIZE || x > scene.width + MARK_SIZE) continue;
      context.beginPath();
      if (kind === 'note') {
        context.fillStyle = theme.css['line-strong'];
        context.arc(x, middle, MARK_SIZE - 1, 0, 2 * Math.PI);
      } else {
        context.fillStyle = kind === 'gap' ? theme.css.warn : theme.css.danger;
        context.moveTo(x, middle + MARK_SIZE);
        context.lineTo(x - MARK_SIZE, middle - MARK_SIZE);
        context.lineTo(x + MARK_SIZE, middle - MARK_SIZE);
      }
      context.fill();
    }
    context.fillStyle = theme.css.hit;
    for (const { end } of hits) {
      const x = scene.xOf(end);
      if (x < -MARK_SIZE || x > scene.width + MARK_SIZE) continue;
      context.beginPath();
      context.moveTo(x, middle - MARK_SIZE - 1);
      context.lineTo(x + MARK_SIZE, middle);
      context.lineTo(x, middle + MARK_SIZE + 1);
      context.lineTo(x - MARK_SIZE, middle);
      context.fill();
    }
  }

  /** @param {Scene} scene @param {Theme} theme @param {{time: number, text: string}} flag */
  #flag(scene, theme, { time, text }) {
    const context = this.#context;
    const x = Math.round(scene.xOf(time));
    if (x < -200 || x > scene.width) return;
    context.fillStyle = theme.css.flag;
    context.fillRect(x, 0, 1, RULER_HEIGHT);
    const width = text ? context.measureText(text).width + 8 : 9;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x + width + 4, 0);
    context.lineTo(x + width, 6.5);
    context.lineTo(x + width + 4, 13);
    context.lineTo(x, 13);
    context.fill();
    context.fillStyle = theme.css.ground;
    if (text) context.fillText(text, x + 4, 7);
  }

  /**
   * What the pointer means on the row of marks, in words; null: nothing.
   * @param {Scene} scene @param {number} x @param {Marks} marks
   */
  static wordsAt(scene, x, { marks, hits }) {
    const words = [];
    for (const { time, text } of marks) if (Math.abs(scene.xOf(time) - x) <= NEAR) words.push(text);
    for (const { start, end, name, argument } of hits)
      if (Math.abs(scene.xOf(end) - x) <= NEAR)
        words.push(`${name}${argument === null ? '' : ` (${argument})`}${end > start ? `, ${formatDuration(end - start)}` : ''}`);
    const more = words.length - 5;
    return words.length === 0 ? null : [...words.slice(0, 5), ...(more > 0 ? [`and ${more} more`] : [])];
  }
}
