// The whole trace in small, with the view marked in it: drag in it to move the view, drag its edges to change it.
//
// It shows the tracks with most spans, each row of depth a pixel or two high, from tiles of the lowest sensible resolution. They
// are drawn once, when they come, into a picture that later frames copy. Dots stand where they are still to come.

import { Pixels } from './pixels.js';
import { contextOf, sizeCanvas } from './scene.js';
import { resolutionFor, rangeKey, rangesOf, timeOf, RANGE_ROWS } from './request_range.js';

/** @typedef {import('../data/source.js').Track} Track */
/** @typedef {import('./colours.js').Palette} Palette */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */
/** @typedef {import('./request_range.js').TileRows} TileRows */
/** @typedef {import('./request_range.js').RequestRange} RequestRange */
/** @typedef {import('./tile_store.js').TileStore} TileStore */

export const MINIMAP_HEIGHT = 44;
const MOST_TRACKS = 6;
const PADDING = 2;

export class Minimap {
  #context;
  #tracks;
  #picture = document.createElement('canvas');
  /** @type {Map<string, TileRows>} */
  #kept = new Map();
  #stale = true;
  width = 1;

  /** @param {HTMLCanvasElement} canvas @param {Track[]} tracks @param {number} duration */
  constructor(canvas, tracks, duration) {
    this.canvas = canvas;
    this.#context = contextOf(canvas, { alpha: false });
    this.duration = Math.max(duration, 1);
    const busiest = tracks.filter(({ kind, spans }) => kind === 'thread' && spans > 0).sort((a, b) => b.spans - a.spans);
    this.#tracks = busiest.slice(0, MOST_TRACKS).sort((a, b) => a.id - b.id);
  }

  /** Has it drawn again: the theme or the size changed. */
  refresh() {
    this.#stale = true;
  }

  #resolution() {
    return resolutionFor(this.duration / this.width);
  }

  /**
   * The request ranges whose tiles are still to come.
   * @returns {RequestRange[]}
   */
  missing() {
    return this.#requests().filter((request) => !this.#kept.has(rangeKey(request)));
  }

  /** @returns {RequestRange[]} */
  #requests() {
    const resolution = this.#resolution();
    const { first, last } = rangesOf({ from: 0, to: this.duration }, resolution, this.duration);
    return this.#tracks.flatMap(({ id }) =>
      Array.from({ length: last - first + 1 }, (_, i) => ({ track: id, resolution, index: first + i, block: 0 })),
    );
  }

  /**
   * Takes what has come.
   * @param {TileStore} store
   */
  collect(store) {
    for (const request of this.missing()) {
      const tileRows = store.get(request);
      if (tileRows === null) continue;
      this.#kept.set(rangeKey(request), tileRows);
      this.#stale = true;
    }
  }

  /** @param {Scene} scene @param {Theme} theme @param {Palette} palette */
  draw(scene, theme, palette) {
    const width = Math.max(this.width, 1);
    if (sizeCanvas(this.canvas, width, MINIMAP_HEIGHT, scene.scale)) this.#stale = true;
    if (this.#stale) this.#paint(theme, palette);
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.#picture, 0, 0);
    context.setTransform(scene.scale, 0, 0, scene.scale, 0, 0);
    const left = (scene.view.from / this.duration) * width;
    const right = Math.max((scene.view.to / this.duration) * width, left + 2);
    context.fillStyle = theme.css.shade;
    context.globalAlpha = 0.5;
    context.fillRect(0, 0, left, MINIMAP_HEIGHT);
    context.fillRect(right, 0, width - right, MINIMAP_HEIGHT);
    context.globalAlpha = 1;
    context.fillStyle = theme.css.accent;
    context.fillRect(left - 1, 0, 2, MINIMAP_HEIGHT);
    context.fillRect(right - 1, 0, 2, MINIMAP_HEIGHT);
    context.fillStyle = theme.css.line;
    context.fillRect(0, MINIMAP_HEIGHT - 1, width, 1);
  }

  /** @param {Theme} theme @param {Palette} palette */
  #paint(theme, palette) {
    this.#stale = false;
    const { width, height } = this.canvas;
    const wanted = new Set(this.#requests().map(rangeKey));
    for (const key of this.#kept.keys()) if (!wanted.has(key)) this.#kept.delete(key);
    this.#picture.width = width;
    this.#picture.height = height;
    const context = contextOf(this.#picture);
    const image = context.createImageData(width, height);
    const pixels = new Pixels(width, height);
    pixels.data = new Uint32Array(image.data.buffer);
    pixels.clear(theme.ground);
    const room = (height - 2 * PADDING) / Math.max(this.#tracks.length, 1);
    this.#dots(pixels, theme, room);
    for (const tileRows of this.#kept.values()) {
      const number = this.#tracks.findIndex(({ id }) => id === tileRows.track);
      const rows = Math.min(this.#tracks[number].depth, RANGE_ROWS);
      const rowHeight = Math.max(1, Math.min(6, Math.floor(room / rows)));
      const top = Math.round(PADDING + number * room);
      const place = { top: 0, height: rowHeight, from: 0, until: Infinity, pixelsPerNs: width / this.duration };
      for (let row = 0; row < rows && (row + 1) * rowHeight <= room; row++) {
        place.top = top + row * rowHeight;
        pixels.row(tileRows, row, place, tileRows.from, Math.min(tileRows.to, this.duration), palette, null);
      }
    }
    context.putImageData(image, 0, 0);
  }

  /**
   * Dots where a track may have spans that are not here yet.
   * @param {Pixels} pixels @param {Theme} theme @param {number} room of a track, pixels
   */
  #dots(pixels, theme, room) {
    /** @param {number} time */
    const x = (time) => Math.round((time / this.duration) * pixels.width);
    for (const request of this.missing()) {
      const number = this.#tracks.findIndex(({ id }) => id === request.track);
      const { first, last } = this.#tracks[number];
      const { from, to } = timeOf(request);
      const top = Math.round(PADDING + number * room);
      pixels.dot(x(Math.max(from, first)), top, x(Math.min(to, last)), Math.round(top + room), theme.unloaded);
    }
  }

  /** @param {number} x CSS pixels */
  timeAt(x) {
    return (x / this.width) * this.duration;
  }
}

