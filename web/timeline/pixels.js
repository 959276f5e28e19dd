// A picture as numbers, and how spans are put into it. The tracks are drawn here and not with a canvas's own rectangles: a
// screen may hold a hundred thousand tiles of a pixel each, which this fills in about the time of copying the picture.

import { EDGED, HATCHED, INSET, PLAIN } from './colours.js';
import { firstTileFrom } from './request_range.js';

/** @typedef {import('./colours.js').Palette} Palette */
/** @typedef {import('./request_range.js').TileRows} TileRows */
/** @typedef {import('./labels.js').Labels} Labels */

const PATTERN_HEIGHT = 7; // lower rows have no room for a pattern,
const PATTERN_WIDTH = 4; // and narrower spans none for hatching
const BRIEF_SEEN = 4; // pixels of a ns from which on a span of no length is seen beside those that touch it
const GAP_WIDTH = 4; // wider spans leave a pixel free at their end, so that calls one after the other can be distinguished
const HATCH_PERIOD = 7;
const HATCH_WIDTH = 2;
const DOT_PERIOD = 8;
const DOT_SIZE = 2;

/**
 * Where a row of a track is drawn: pixels, and how time becomes pixels.
 * @typedef {{top: number, height: number, from: number, until: number, pixelsPerNs: number}} RowPlace from: the time at the left edge, ns;
 *   until: what begins then is not of this track, and no name reaches further
 */

export class Pixels {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.data = new Uint32Array(width * height);
  }

  /** @param {number} colour */
  clear(colour) {
    this.data.fill(colour);
  }

  /** @param {number} left @param {number} top @param {number} right @param {number} bottom @param {number} colour */
  fill(left, top, right, bottom, colour) {
    const { data, width } = this;
    const stop = Math.min(bottom, this.height);
    if (right - left === 1) {
      for (let at = Math.max(top, 0) * width + left, end = stop * width; at < end; at += width) data[at] = colour;
      return;
    }
    for (let y = Math.max(top, 0); y < stop; y++) data.fill(colour, y * width + left, y * width + right);
  }

  /**
   * Diagonal lines, which keep their place when what they fill is moved: `phase` is that of its left edge.
   * @param {number} left @param {number} top @param {number} right @param {number} bottom @param {number} colour
   */
  hatch(left, top, right, bottom, colour) {
    const { data, width } = this;
    const stop = Math.min(bottom, this.height);
    for (let y = Math.max(top, 0); y < stop; y++) {
      const line = y * width;
      for (let x = left; x < right; x++) if ((x + y) % HATCH_PERIOD < HATCH_WIDTH) data[line + x] = colour;
    }
  }

  /**
   * Dots, in place of what is not known yet.
   * @param {number} left @param {number} top @param {number} right @param {number} bottom @param {number} colour
   */
  dot(left, top, right, bottom, colour) {
    const { data, width } = this;
    const stop = Math.min(bottom, this.height);
    for (let y = Math.max(top, 0); y < stop; y++) {
      if (y % DOT_PERIOD >= DOT_SIZE) continue;
      const shift = y % (2 * DOT_PERIOD) < DOT_PERIOD ? 0 : DOT_PERIOD / 2;
      for (let x = left; x < right; x++) if ((x + shift) % DOT_PERIOD < DOT_SIZE) data[y * width + x] = colour;
    }
  }

  /**
   * One tile, with the pattern of its function.
   * @param {number} left @param {number} right @param {RowPlace} place @param {number} fn @param {boolean} merged
   * @param {Palette} palette
   */
  #tile(left, right, place, fn, merged, palette) {
    const { top, height } = place;
    const colour = merged ? palette.merged[fn] : palette.single[fn];
    const roomy = height >= PATTERN_HEIGHT;
    const pattern = !roomy || (right - left < PATTERN_WIDTH && palette.pattern[fn] === HATCHED) ? PLAIN : palette.pattern[fn];
    const gap = roomy ? 1 : 0;
    const inset = pattern === INSET ? Math.max(2, height >> 3) : 0;
    this.fill(left, top + inset, right, top + height - gap - inset, colour);
    if (pattern === EDGED) {
      const edge = Math.max(2, height >> 3);
      this.fill(left, top + height - gap - edge, right, top + height - gap, palette.edge[fn]);
    } else if (pattern === HATCHED) this.hatch(left, top, right, top + height - gap, palette.edge[fn]);
  }

  /**
   * Draws the tiles of one row that lie in [clipFrom, clipTo), and notes which have room for a name: once for each,
   * where it begins or enters the picture.
   * @param {TileRows} tileRows @param {number} row @param {RowPlace} place @param {number} clipFrom @param {number} clipTo ns
   * @param {Palette} palette @param {Labels | null} labels
   * @returns {number} how many tiles were drawn
   */
  row(tileRows, row, place, clipFrom, clipTo, palette, labels) {
    const { from, pixelsPerNs, height } = place;
    const stop = tileRows.rowStart[row + 1];
    const clipLeft = Math.max(0, Math.round((clipFrom - from) * pixelsPerNs));
    const clipRight = Math.min(this.width, Math.round((clipTo - from) * pixelsPerNs));
    const spacing = height >= PATTERN_HEIGHT ? GAP_WIDTH : Infinity;
    let drawn = 0;
    let filled = clipLeft; // left of this all is drawn already
    let brief = clipLeft; // left of this lies the pixel of a span of no length: what begins there is drawn beside it
    for (let i = firstTileFrom(tileRows, row, clipFrom); i < stop; i++) {
      const exact = (tileRows.start[i] - from) * pixelsPerNs;
      if (exact >= clipRight || tileRows.start[i] >= place.until) break;
      if (tileRows.end[i] <= clipFrom && tileRows.start[i] < clipFrom) continue;
      const exactEnd = (tileRows.end[i] - from) * pixelsPerNs;
      const isBrief = exact === exactEnd && pixelsPerNs >= BRIEF_SEEN;
      if (exactEnd < filled && exactEnd - exact < 1 && !isBrief) continue;
      let left = Math.max(Math.floor(exact), clipLeft);
      const end = Math.max(Math.round(exactEnd), left + 1);
      if (left < brief && brief < end) left = brief;
      let right = Math.min(end, clipRight);
      filled = right;
      if (isBrief) brief = right;
      if (end <= clipRight && right - left >= spacing) right--;
      if (left >= right) continue;
      drawn++;
      const merged = tileRows.spans[i] > 1;
      this.#tile(left, right, place, tileRows.function[i], merged, palette);
      if (labels === null || merged || (tileRows.start[i] < clipFrom && clipLeft > 0)) continue;
      const shown = Math.min(end, this.width, Math.round((place.until - from) * pixelsPerNs));
      if (shown - left >= labels.narrowest) labels.add(left, shown, place.top, tileRows.function[i]);
    }
    return drawn;
  }
}
