// Tiles (docs/viewer.md section 1) of a track that the page holds itself.

import { beginBefore, chain, overlaps } from './embedded_search.js';

/** @typedef {import('./embedded_trace.js').Spans} Spans */
/** @typedef {import('./source.js').Tiles} Tiles */
/** @typedef {import('./source.js').Range} Range */
/**
 * @typedef {{start: number, end: number, depth: number, function: number, spans: number, flags: number, longest: number}} Tile
 * @typedef {{bin: number, seen: boolean, tile: Tile}} Bin the spans of one bin at one depth so far; seen: one overlaps the range
 */

/** @param {Spans} spans @param {number} i @returns {Tile} */
function single(spans, i) {
  const start = spans.start[i];
  const end = spans.end[i];
  return { start, end, depth: spans.depth[i], function: spans.function[i], spans: 1, flags: spans.flags[i], longest: end - start };
}

/** @param {Tile} tile @param {Tile} other that begins later, or at the same time but after it in order */
function merge(tile, other) {
  tile.end = Math.max(tile.end, other.end);
  tile.spans++;
  tile.flags = 0;
  if (other.longest <= tile.longest) return;
  tile.longest = other.longest;
  tile.function = other.function;
}

/** @param {Tile[]} tiles by start, outer first @returns {Tiles} */
function columns(tiles) {
  /** @param {Exclude<keyof Tile, 'longest'>} name */
  const numbers = (name) => Uint32Array.from(tiles, (tile) => tile[name]);
  return {
    more: false,
    start: Float64Array.from(tiles, (tile) => tile.start),
    end: Float64Array.from(tiles, (tile) => tile.end),
    depth: numbers('depth'),
    function: numbers('function'),
    spans: numbers('spans'),
    flags: numbers('flags'),
  };
}

/**
 * @param {Spans} spans @param {Range} range @param {number} resolution @param {number} depth the first row @param {number} rows
 * @returns {Tiles}
 */
export function tilesOf(spans, range, resolution, depth, rows) {
  /** @type {Tile[]} */
  const tiles = [];
  /** @type {Map<number, Bin>} by depth: the bin that is being filled */
  const bins = new Map();
  /** @param {Bin | undefined} bin */
  const finish = (bin) => {
    if (bin?.seen) tiles.push(bin.tile);
  };
  /** @param {number} i */
  const take = (i) => {
    const level = spans.depth[i];
    if (level < depth || level >= depth + rows) return;
    const seen = overlaps(spans, i, range);
    const tile = single(spans, i);
    if (tile.longest >= resolution) {
      if (seen) tiles.push(tile);
      return;
    }
    const number = Math.floor(tile.start / resolution);
    const open = bins.get(level);
    if (open?.bin === number) {
      merge(open.tile, tile);
      open.seen ||= seen;
      return;
    }
    finish(open);
    bins.set(level, { bin: number, seen, tile });
  };

  // A span that is merged may reach into the range from the bin before; longer ones enclose the first span that is visited.
  const firstTime = (Math.floor(range.from / resolution) - 1) * resolution;
  const lastTime = Math.ceil(range.to / resolution) * resolution;
  const first = beginBefore(spans, firstTime);
  chain(spans, first - 1)
    .filter((i) => spans.end[i] - spans.start[i] >= resolution)
    .forEach(take);
  for (let i = first; i < spans.count && spans.start[i] < lastTime; i++) take(i);
  bins.forEach(finish);
  tiles.sort((a, b) => a.start - b.start || a.depth - b.depth);
  return columns(tiles);
}
