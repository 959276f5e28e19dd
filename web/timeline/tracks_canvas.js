// Draws the tracks: spans, untraced time, what is not loaded yet, gaps, counters. Also finds what is drawn at a point.

import { drawArrows } from './arrows.js';
import { drawCounter } from './counter_chart.js';
import { itemAt, rowsBetween, TRACK_PADDING } from './layout.js';
import { Labels } from './labels.js';
import { Pixels } from './pixels.js';
import { contextOf, sizeCanvas } from './scene.js';
import { firstTileFrom, missingOf, timeOf, rangesOf, RANGE_ROWS } from './request_range.js';
import { blocksOf, resolutionOf } from './request_plan.js';
import { isShort, runsOf } from './stack_tracks.js';

/** @typedef {import('../function_names.js').FunctionNames} FunctionNames */
/** @typedef {import('../data/source.js').Mark} Mark */
/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {import('./colours.js').Palette} Palette */
/** @typedef {import('./layout.js').TrackItem} TrackItem */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */
/** @typedef {import('./request_range.js').TileRows} TileRows */
/** @typedef {import('./tile_store.js').TileStore} TileStore */
/**
 * @typedef {{track: number, depth: number, start: number, end: number, function: number, spans: number, flags: number}} DrawnTile
 * @typedef {{tileRows: TileRows, from: number, to: number, until: number}} Part tiles and the time of them that is shown; until: when
 *   something else runs in their track
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
  #functionNames;
  /** Tiles and names that the last frame had. */
  tiles = 0;
  names = 0;
  /** Parts of tracks of which nothing was here to be drawn, in the last frame. */
  unloaded = 0;
  /** Times in which a stack ran, too short to be more than a bar, that the last frame had. */
  bars = 0;
  /** Arrows that the last frame had. */
  arrows = 0;

  /** @param {HTMLCanvasElement} canvas @param {TileStore} store @param {FunctionNames} functionNames */
  constructor(canvas, store, functionNames) {
    this.canvas = canvas;
    this.#context = contextOf(canvas, { alpha: false });
    this.#store = store;
    this.#functionNames = functionNames;
  }

  /** Names are to be written in another way. */
  renameFunctions() {
    this.#labels = null;
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
        (id) => this.#functionNames.of(id),
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
   * @param {import('../data/source.js').Switch[]} switches
   */
  draw(scene, theme, palettes, marks, samples, switches) {
    const labels = this.#prepare(scene, theme);
    this.#pixels.clear(theme.ground);
    this.tiles = 0;
    this.unloaded = 0;
    this.bars = 0;
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
    this.arrows = drawArrows(this.#context, scene, theme, switches);
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
    const place = { top: 0, height: 0, from: view.from, until: Infinity, pixelsPerNs };
    /** @param {number} row @returns {number} its upper edge, pixels */
    const y = (row) => Math.round(rowsTop + Math.min(row, item.rows) * rowHeight);
    this.#eachPart(item, scene, ({ tileRows, from, to, until }) => {
      place.until = until;
      const last = Math.min(rows.last, tileRows.depth + RANGE_ROWS);
      for (let depth = Math.max(rows.first, tileRows.depth); depth < last; depth++) {
        const row = depth - tileRows.depth;
        if (tileRows.rowStart[row] === tileRows.rowStart[row + 1]) continue;
        place.top = y(depth);
        place.height = y(depth + 1) - place.top;
        this.tiles += this.#pixels.row(tileRows, row, place, from, to, palette, named);
      }
    }, ({ block, from, to }) => {
      /** @param {number} time */
      const x = (time) => Math.min(Math.max(Math.round((time - view.from) * pixelsPerNs), 0), this.#pixels.width);
      this.#pixels.dot(x(from), y(block * RANGE_ROWS), x(to), y((block + 1) * RANGE_ROWS), theme.unloaded);
      if (x(from) < x(to)) this.unloaded++;
    });
    if (item.track.onStack) this.#shortRuns(item, scene, y(0), y(1), palette.merged[item.track.onStack.function]);
    this.#pixels.fill(0, Math.max(bottom - 1, 0), this.#pixels.width, bottom, theme.line);
  }

  /**
   * Bars where a stack ran for so short a time that no call can be seen.
   * @param {TrackItem} item @param {Scene} scene @param {number} top @param {number} bottom @param {number} colour
   */
  #shortRuns({ track }, scene, top, bottom, colour) {
    const nsPerPixel = scene.nsPerPixel / scene.scale;
    for (const run of runsOf(track, scene.view)) {
      if (!isShort(run, nsPerPixel)) continue;
      const left = Math.min(Math.floor((run.from - scene.view.from) / nsPerPixel), this.#pixels.width - 1);
      const right = Math.min(Math.max(Math.round((run.to - scene.view.from) / nsPerPixel), left + 1), this.#pixels.width);
      this.#pixels.fill(left, top, right, bottom - 1, colour);
      this.bars++;
    }
  }

  /** @param {import('./layout.js').ProcessItem} item @param {Scene} scene @param {Theme} theme */
  #heading(item, scene, theme) {
    const top = Math.round((item.top - scene.scroll) * scene.scale);
    const bottom = Math.round((item.top + item.height - scene.scroll) * scene.scale);
    this.#pixels.fill(0, top, this.#pixels.width, bottom, theme.heading);
    this.#pixels.fill(0, Math.max(bottom - 1, 0), this.#pixels.width, bottom, theme.line);
  }

  /**
   * Hatches the time in which nothing is known of a track: before its first and after its last span.
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
   * The tiles, or what is shown until they are here, that a track is drawn from; and where nothing is here yet.
   * @param {TrackItem} item @param {Scene} scene @param {(part: Part) => void} visit
   * @param {(missing: Range & {block: number}) => void} [miss]
   */
  #eachPart(item, scene, visit, miss) {
    const sight = scene.sight();
    const resolution = resolutionOf(sight);
    const blocks = blocksOf(item, sight);
    const nsPerPixel = scene.nsPerPixel / scene.scale;
    for (const run of runsOf(item.track, scene.view)) {
      if (run.track === null || (item.track.onStack && isShort(run, nsPerPixel))) continue;
      const ranges = rangesOf(run, resolution, scene.duration);
      const until = item.track.onStack ? run.to : Infinity;
      for (let block = blocks.first; block <= blocks.last; block++)
        for (let index = ranges.first; index <= ranges.last; index++) {
          const request = { track: run.track, resolution, index, block };
          const time = timeOf(request);
          const from = Math.max(time.from, run.from);
          const to = Math.min(time.to, run.to);
          const tileRows = this.#store.get(request);
          if (tileRows) {
            visit({ tileRows, from, to, until });
            continue;
          }
          const standIns = this.#store.standIns(request);
          for (const other of standIns) visit({ tileRows: other, from: Math.max(from, other.from), to: Math.min(to, other.to), until });
          // Where the track has no spans nothing is asked for.
          const { first, last } = item.track;
          for (const missing of missingOf({ from: Math.max(from, first), to: Math.min(to, last) }, standIns)) miss?.({ ...missing, block });
        }
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
   * The tile at a point, in CSS pixels from the upper left corner of the tracks; of several so near, the nearest.
   * @param {Scene} scene @param {number} x @param {number} y @returns {DrawnTile | null}
   */
  tileAt(scene, x, y) {
    const height = y + scene.scroll;
    const item = scene.layout.items[itemAt(scene.layout, height)];
    if (item?.kind !== 'track') return null;
    const depth = Math.floor((height - item.top - TRACK_PADDING) / item.rowHeight);
    if (depth < 0 || depth >= item.rows) return null;
    const time = scene.timeAt(x);
    const near = NEAR * scene.nsPerPixel;
    /** @type {DrawnTile | null} */
    let best = null;
    let distance = Infinity;
    this.#eachPart(item, scene, ({ tileRows, from, to, until }) => {
      const row = depth - tileRows.depth;
      if (row < 0 || row >= RANGE_ROWS) return;
      if (item.track.onStack && (time < from - near || time > to + near)) return;
      for (let i = firstTileFrom(tileRows, row, time - near); i < tileRows.rowStart[row + 1] && tileRows.start[i] <= time + near; i++) {
        if (tileRows.start[i] >= until) break;
        const drawnTo = tileRows.end[i] > tileRows.start[i] ? tileRows.end[i] : tileRows.start[i] + scene.nsPerPixel;
        const away = Math.max(tileRows.start[i] - time, time - drawnTo, 0);
        if (away >= distance) continue;
        distance = away;
        best = drawnTile(tileRows, row, i);
      }
    });
    return best;
  }

  /**
   * All tiles that are drawn of the tracks in view, each once; for tests.
   * @param {Scene} scene
   */
  drawn(scene) {
    /** @type {Map<string, DrawnTile>} */
    const tiles = new Map();
    for (const item of scene.items()) {
      if (item.kind !== 'track') continue;
      const rows = rowsBetween(item, scene.scroll, scene.scroll + scene.height);
      this.#eachPart(item, scene, ({ tileRows, from, to }) => {
        for (let row = Math.max(rows.first - tileRows.depth, 0); row < Math.min(rows.last - tileRows.depth, RANGE_ROWS); row++)
          for (let i = firstTileFrom(tileRows, row, from); i < tileRows.rowStart[row + 1] && tileRows.start[i] < to; i++) {
            const tile = drawnTile(tileRows, row, i);
            tiles.set(`${tile.track}/${tile.depth}/${tile.start}/${tile.end}`, tile);
          }
      });
    }
    return [...tiles.values()];
  }
}

/** @param {TileRows} tileRows @param {number} row @param {number} i @returns {DrawnTile} */
function drawnTile(tileRows, row, i) {
  return {
    track: tileRows.track,
    depth: tileRows.depth + row,
    start: tileRows.start[i],
    end: tileRows.end[i],
    function: tileRows.function[i],
    spans: tileRows.spans[i],
    flags: tileRows.flags[i],
  };
}

