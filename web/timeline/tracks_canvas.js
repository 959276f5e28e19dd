// Draws the tracks: spans, untraced time, gaps, counters. Also tells what is drawn at a point.

import { drawCounter } from './counter_chart.js';
import { itemAt, rowsBetween, TRACK_PADDING } from './layout.js';
import { Labels } from './labels.js';
import { Pixels } from './pixels.js';
import { contextOf, sizeCanvas } from './scene.js';
import { firstPieceFrom, tileRange, tilesOf, TILE_ROWS } from './tile.js';
import { blocksOf, resolutionOf } from './tile_plan.js';

/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../data/source.js').Mark} Mark */
/** @typedef {import('./colours.js').Palette} Palette */
/** @typedef {import('./layout.js').TrackItem} TrackItem */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */
/** @typedef {import('./tile.js').Tile} Tile */
/** @typedef {import('./tile_store.js').TileStore} TileStore */
/**
 * @typedef {{track: number, depth: number, start: number, end: number, function: number, spans: number, flags: number}} DrawnPiece
 * @typedef {{tile: Tile, from: number, to: number}} Part a tile and what of its time is shown
 */

const TEXT_SIZE = 11; // CSS pixels
const LABEL_ROW = 12; // lower rows have no names
const NEAR = 2; // CSS pixels: what is so near to the pointer is meant

export class TracksCanvas {
  #context;
  #image = new ImageData(1, 1);
  #pixels = new Pixels(1, 1);
  /** @type {Labels | null} of the scale and font that were used last */
  #labels = null;
  #font = '';
  #store;
  #functions;
  /** Pieces and names that the last frame had. */
  pieces = 0;
  names = 0;

  /** @param {HTMLCanvasElement} canvas @param {TileStore} store @param {FunctionInfo[]} functions */
  constructor(canvas, store, functions) {
    this.canvas = canvas;
    this.#context = contextOf(canvas, { alpha: false });
    this.#store = store;
    this.#functions = functions;
  }

  /** @param {Scene} scene @param {Theme} theme */
  #prepare(scene, theme) {
    const { width, height, scale } = scene;
    const font = `${TEXT_SIZE * scale}px ${theme.font}`;
    if (sizeCanvas(this.canvas, width, height, scale) || this.#pixels.width !== this.canvas.width) {
      this.#image = this.#context.createImageData(this.canvas.width, this.canvas.height);
      this.#pixels = new Pixels(this.canvas.width, this.canvas.height);
      this.#pixels.data = new Uint32Array(this.#image.data.buffer);
    }
    this.#context.font = font;
    if (this.#labels === null || this.#font !== font) {
      this.#font = font;
      this.#labels = new Labels(
        (id) => this.#functions[id]?.name ?? '',
        (text) => this.#context.measureText(text).width,
        scale,
      );
    }
    this.#labels.clear();
    return this.#labels;
  }

  /**
   * @param {Scene} scene @param {Theme} theme @param {{calls: Palette, hits: Palette}} palettes @param {Mark[]} marks
   * @param {Map<number, import('./counter_chart.js').Sample[]>} samples by counter
   */
  draw(scene, theme, palettes, marks, samples) {
    const labels = this.#prepare(scene, theme);
    this.#pixels.clear(theme.ground);
    this.pieces = 0;
    const items = scene.items();
    for (const item of items) {
      if (item.kind === 'track') this.#track(item, scene, theme, item.track.kind === 'hits' ? palettes.hits : palettes.calls, labels);
      if (item.kind === 'process') this.#heading(item, scene, theme);
    }
    this.#context.putImageData(this.#image, 0, 0);
    for (const item of items)
      if (item.kind === 'counter') drawCounter(this.#context, scene, theme, item, samples.get(item.counter.id) ?? []);
    this.#gaps(scene, theme, marks);
    this.#writeNames(labels, scene, theme);
  }

  /** @param {TrackItem} item @param {Scene} scene @param {Theme} theme @param {Palette} palette @param {Labels} labels */
  #track(item, scene, theme, palette, labels) {
    const { scale, view } = scene;
    const pixelsPerNs = scale / scene.nsPerPixel;
    const top = Math.round((item.top - scene.scroll) * scale);
    const bottom = Math.round((item.top + item.height - scene.scroll) * scale);
    this.#untraced(item, view, pixelsPerNs, top, bottom, theme);
    const rowHeight = item.rowHeight * scale;
    const rowsTop = (item.top + TRACK_PADDING - scene.scroll) * scale;
    const rows = rowsBetween(item, scene.scroll, scene.scroll + scene.height);
    const named = item.rowHeight >= LABEL_ROW ? labels : null;
    const place = { top: 0, height: 0, from: view.from, pixelsPerNs };
    this.#eachPart(item, scene, ({ tile, from, to }) => {
      const last = Math.min(rows.last, tile.depth + TILE_ROWS);
      for (let depth = Math.max(rows.first, tile.depth); depth < last; depth++) {
        const row = depth - tile.depth;
        if (tile.rowStart[row] === tile.rowStart[row + 1]) continue;
        place.top = Math.round(rowsTop + depth * rowHeight);
        place.height = Math.round(rowsTop + (depth + 1) * rowHeight) - place.top;
        this.pieces += this.#pixels.row(tile, row, place, from, to, palette, named);
      }
    });
    this.#pixels.fill(0, Math.max(bottom - 1, 0), this.#pixels.width, bottom, theme.line);
  }

  /** @param {import('./layout.js').ProcessItem} item @param {Scene} scene @param {Theme} theme */
  #heading(item, scene, theme) {
    const top = Math.round((item.top - scene.scroll) * scene.scale);
    const bottom = Math.round((item.top + item.height - scene.scroll) * scene.scale);
    this.#pixels.fill(0, top, this.#pixels.width, bottom, theme.heading);
    this.#pixels.fill(0, Math.max(bottom - 1, 0), this.#pixels.width, bottom, theme.line);
  }

  /**
   * Hatches the time in which nothing is known of a track: before its first and behind its last span.
   * @param {TrackItem} item @param {{from: number}} view @param {number} pixelsPerNs @param {number} top @param {number} bottom
   * @param {Theme} theme
   */
  #untraced(item, view, pixelsPerNs, top, bottom, theme) {
    const { width } = this.#pixels;
    /** @param {number} time */
    const x = (time) => Math.min(Math.max(Math.round((time - view.from) * pixelsPerNs), 0), width);
    const { first, last, spans } = item.track;
    this.#pixels.hatch(0, top, spans === 0 ? width : x(first), bottom, theme.untraced);
    if (spans > 0) this.#pixels.hatch(x(last), top, width, bottom, theme.untraced);
  }

  /**
   * The tiles, or what stands for them, that a track is drawn from.
   * @param {TrackItem} item @param {Scene} scene @param {(part: Part) => void} visit
   */
  #eachPart(item, scene, visit) {
    const sight = scene.sight();
    const resolution = resolutionOf(sight);
    const blocks = blocksOf(item, sight);
    const tiles = tilesOf(scene.view, resolution, scene.duration);
    for (let block = blocks.first; block <= blocks.last; block++)
      for (let index = tiles.first; index <= tiles.last; index++) {
        const place = { track: item.track.id, resolution, index, block };
        const range = tileRange(place);
        const from = Math.max(range.from, scene.view.from);
        const to = Math.min(range.to, scene.view.to);
        const tile = this.#store.get(place);
        if (tile) {
          visit({ tile, from, to });
          continue;
        }
        for (const other of this.#store.standIns(place))
          visit({ tile: other, from: Math.max(from, other.from), to: Math.min(to, other.to) });
      }
  }

  /** @param {Scene} scene @param {Theme} theme @param {Mark[]} marks */
  #gaps(scene, theme, marks) {
    const context = this.#context;
    context.fillStyle = theme.css.danger;
    for (const { kind, track, time } of marks) {
      const item = scene.layout.byTrack.get(track);
      if (kind === 'note' || item === undefined) continue;
      const x = Math.round(scene.xOf(time) * scene.scale);
      const top = (item.top - scene.scroll) * scene.scale;
      if (x < 0 || x >= this.canvas.width || top >= this.canvas.height || top + item.height * scene.scale <= 0) continue;
      context.fillRect(x, top, Math.max(1, Math.round(scene.scale)), item.height * scene.scale - 1);
    }
  }

  /** @param {Labels} labels @param {Scene} scene @param {Theme} theme */
  #writeNames(labels, scene, theme) {
    const context = this.#context;
    const middle = (18 * scene.scale) / 2;
    context.font = this.#font;
    context.textBaseline = 'middle';
    context.fillStyle = theme.css['span-text'];
    this.names = 0;
    for (let i = 0; i < labels.count; i++) {
      const text = labels.text(i);
      if (text === '') continue;
      context.fillText(text, labels.left[i] + labels.padding, labels.top[i] + middle);
      this.names++;
    }
  }

  /**
   * The piece at a point, in CSS pixels from the upper left corner of the tracks; of several so near, the nearest.
   * @param {Scene} scene @param {number} x @param {number} y @returns {DrawnPiece | null}
   */
  pieceAt(scene, x, y) {
    const height = y + scene.scroll;
    const item = scene.layout.items[itemAt(scene.layout, height)];
    if (item?.kind !== 'track') return null;
    const depth = Math.floor((height - item.top - TRACK_PADDING) / item.rowHeight);
    if (depth < 0 || depth >= item.rows) return null;
    const time = scene.timeAt(x);
    const near = NEAR * scene.nsPerPixel;
    /** @type {DrawnPiece | null} */
    let best = null;
    let distance = Infinity;
    this.#eachPart(item, scene, ({ tile }) => {
      const row = depth - tile.depth;
      if (row < 0 || row >= TILE_ROWS) return;
      for (let i = firstPieceFrom(tile, row, time - near); i < tile.rowStart[row + 1] && tile.start[i] <= time + near; i++) {
        const away = Math.max(tile.start[i] - time, time - tile.end[i], 0);
        if (away >= distance) continue;
        distance = away;
        best = drawnPiece(tile, row, i);
      }
    });
    return best;
  }

  /**
   * All pieces that are drawn of the tracks in view, each once; for tests.
   * @param {Scene} scene
   */
  drawn(scene) {
    /** @type {Map<string, DrawnPiece>} */
    const pieces = new Map();
    for (const item of scene.items()) {
      if (item.kind !== 'track') continue;
      const rows = rowsBetween(item, scene.scroll, scene.scroll + scene.height);
      this.#eachPart(item, scene, ({ tile, from, to }) => {
        for (let row = Math.max(rows.first - tile.depth, 0); row < Math.min(rows.last - tile.depth, TILE_ROWS); row++)
          for (let i = firstPieceFrom(tile, row, from); i < tile.rowStart[row + 1] && tile.start[i] < to; i++) {
            const piece = drawnPiece(tile, row, i);
            pieces.set(`${piece.track}/${piece.depth}/${piece.start}/${piece.end}`, piece);
          }
      });
    }
    return [...pieces.values()];
  }
}

/** @param {Tile} tile @param {number} row @param {number} i @returns {DrawnPiece} */
function drawnPiece(tile, row, i) {
  return {
    track: tile.track,
    depth: tile.depth + row,
    start: tile.start[i],
    end: tile.end[i],
    function: tile.function[i],
    spans: tile.spans[i],
    flags: tile.flags[i],
  };
}

