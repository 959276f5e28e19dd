// What all that is drawn shares in a frame: sizes, the view, the layout. Times are ns, sizes CSS pixels unless said otherwise.

import { itemsBetween } from './layout.js';

/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {import('./layout.js').Layout} Layout */

export const RULER_HEIGHT = 26;
export const MARKS_HEIGHT = 16;
export const HEAD_HEIGHT = RULER_HEIGHT + MARKS_HEIGHT;

export class Scene {
  /** Of the tracks, without the names on the left. */
  width = 1;
  height = 1;
  /** Device pixels per CSS pixel. */
  scale = 1;
  /** What of the layout's height is above the tracks' upper edge. */
  scroll = 0;
  /** @type {Layout} */
  layout;
  /** @type {Range} */
  view = { from: 0, to: 1 };
  duration;

  /** @param {Layout} layout @param {number} duration */
  constructor(layout, duration) {
    this.layout = layout;
    this.duration = duration;
  }

  get nsPerPixel() {
    return (this.view.to - this.view.from) / this.width;
  }

  /** @param {number} x */
  timeAt(x) {
    return this.view.from + x * this.nsPerPixel;
  }

  /** @param {number} time */
  xOf(time) {
    return (time - this.view.from) / this.nsPerPixel;
  }

  get mostScroll() {
    return Math.max(0, this.layout.height - this.height);
  }

  /** @param {number} y false: nothing changed */
  setScroll(y) {
    const kept = Math.min(Math.max(y, 0), this.mostScroll);
    if (kept === this.scroll) return false;
    this.scroll = kept;
    return true;
  }

  items() {
    return itemsBetween(this.layout, this.scroll, this.scroll + this.height);
  }

  /** @returns {import('./request_plan.js').Sight} */
  sight() {
    return {
      view: this.view,
      pixels: this.width * this.scale,
      top: this.scroll,
      bottom: this.scroll + this.height,
      duration: this.duration,
    };
  }
}

/**
 * Gives a canvas so many device pixels as it has room for; true when that changed it (and cleared it).
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height CSS pixels @param {number} scale
 */
export function sizeCanvas(canvas, width, height, scale) {
  const pixels = Math.max(1, Math.round(width * scale));
  const lines = Math.max(1, Math.round(height * scale));
  if (canvas.width === pixels && canvas.height === lines) return false;
  canvas.width = pixels;
  canvas.height = lines;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return true;
}

/**
 * The context of a canvas that is drawn in two dimensions.
 * @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2DSettings} [settings]
 */
export function contextOf(canvas, settings) {
  const context = canvas.getContext('2d', settings);
  if (context === null) throw new Error('this browser cannot draw: it gives no 2d context');
  return context;
}
