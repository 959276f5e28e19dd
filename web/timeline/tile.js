// Tiles: what the timeline asks for and keeps. A tile is the pieces of one track, at one resolution (a power of two, ns), for
// TILE_BINS resolutions of time and TILE_ROWS rows of depth, aligned to their sizes. So a tile's time is that of two tiles of the
// next finer resolution, and what was fetched for one view serves all others.

/** @typedef {import('../data/source.js').Pieces} Pieces */
/** @typedef {import('../data/source.js').Range} Range */
/**
 * @typedef {{track: number, resolution: number, index: number, block: number}} TilePlace index: number of the tile along time,
 *   block: along depth
 */
/**
 * The pieces of a tile, row by row, in each row by start. Row `i` (depth `depth + i`) has the pieces rowStart[i] up to rowStart[i + 1].
 * @typedef {TilePlace & {from: number, to: number, depth: number, count: number, rowStart: Uint32Array, start: Float64Array,
 *   end: Float64Array, function: Uint32Array, spans: Uint32Array, flags: Uint32Array, bytes: number}} Tile
 */

export const TILE_BINS = 1024;
export const TILE_ROWS = 32;
const TILE_OVERHEAD = 600; // bytes of a tile without pieces, about

/** @param {TilePlace} place */
export function tileKey({ track, resolution, index, block }) {
  return `${track}/${resolution}/${index}/${block}`;
}

/**
 * The resolution to ask for: a pixel never shows less than what a piece tells.
 * @param {number} nsPerPixel
 */
export function resolutionFor(nsPerPixel) {
  return 2 ** Math.max(0, Math.floor(Math.log2(nsPerPixel)));
}

/**
 * The time of a tile.
 * @param {{resolution: number, index: number}} place @returns {Range}
 */
export function tileRange({ resolution, index }) {
  const width = resolution * TILE_BINS;
  return { from: index * width, to: (index + 1) * width };
}

/**
 * The tile of the next coarser resolution that holds this one.
 * @param {TilePlace} place @returns {TilePlace}
 */
export function coarser({ track, resolution, index, block }) {
  return { track, resolution: resolution * 2, index: Math.floor(index / 2), block };
}

/**
 * The two tiles of the next finer resolution that make this one.
 * @param {TilePlace} place @returns {TilePlace[]}
 */
export function finer({ track, resolution, index, block }) {
  return [0, 1].map((half) => ({ track, resolution: resolution / 2, index: index * 2 + half, block }));
}

/**
 * Numbers of the tiles that a range needs, of those that the trace has.
 * @param {Range} range @param {number} resolution @param {number} duration of the trace
 * @returns {{first: number, last: number}}
 */
export function tilesOf(range, resolution, duration) {
  const width = resolution * TILE_BINS;
  const most = Math.max(0, Math.floor(duration / width));
  /** @param {number} index */
  const kept = (index) => Math.min(Math.max(index, 0), most);
  return { first: kept(Math.floor(range.from / width)), last: kept(Math.ceil(range.to / width) - 1) };
}

/**
 * Arranges an answer by rows.
 * @param {TilePlace} place @param {Pieces} pieces @returns {Tile}
 */
export function makeTile(place, pieces) {
  const depth = place.block * TILE_ROWS;
  const rowStart = new Uint32Array(TILE_ROWS + 1);
  let count = 0;
  for (const level of pieces.depth) {
    if (level < depth || level >= depth + TILE_ROWS) continue;
    rowStart[level - depth + 1]++;
    count++;
  }
  for (let row = 0; row < TILE_ROWS; row++) rowStart[row + 1] += rowStart[row];
  const tile = {
    ...place,
    ...tileRange(place),
    depth,
    count,
    rowStart,
    start: new Float64Array(count),
    end: new Float64Array(count),
    function: new Uint32Array(count),
    spans: new Uint32Array(count),
    flags: new Uint32Array(count),
    bytes: TILE_OVERHEAD + count * 28,
  };
  const next = rowStart.slice();
  pieces.depth.forEach((level, i) => {
    if (level < depth || level >= depth + TILE_ROWS) return;
    const at = next[level - depth]++;
    tile.start[at] = pieces.start[i];
    tile.end[at] = pieces.end[i];
    tile.function[at] = pieces.function[i];
    tile.spans[at] = pieces.spans[i];
    tile.flags[at] = pieces.flags[i];
  });
  return tile;
}

/**
 * The first piece of a row that ends at or behind a moment: in a row, ends grow as starts do.
 * @param {Tile} tile @param {number} row of the tile @param {number} time
 */
export function firstPieceFrom(tile, row, time) {
  let low = tile.rowStart[row];
  let high = tile.rowStart[row + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tile.end[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
