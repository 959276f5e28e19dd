// What the timeline asks for in one request, and how it keeps the answer. A request range is one track at one resolution (a power of
// two, ns), RANGE_BINS resolutions of time and RANGE_ROWS rows of depth, aligned to their sizes. So its time is that of two request
// ranges at half the resolution, and what was fetched for one view serves all others. The answer is the tiles of that range.

/** @typedef {import('../data/source.js').Tiles} Tiles */
/** @typedef {import('../data/source.js').Range} Range */
/**
 * @typedef {{track: number, resolution: number, index: number, block: number}} RequestRange index: its number along time,
 *   block: along depth
 */
/**
 * The tiles of a request range, row by row, in each row by start. Row `i` (depth `depth + i`) has the tiles rowStart[i] up to
 * rowStart[i + 1].
 * @typedef {RequestRange & {from: number, to: number, depth: number, count: number, rowStart: Uint32Array, start: Float64Array,
 *   end: Float64Array, function: Uint32Array, spans: Uint32Array, flags: Uint32Array, bytes: number}} TileRows
 */

export const RANGE_BINS = 1024;
export const RANGE_ROWS = 32;
const ROWS_OVERHEAD = 600; // bytes of an answer without tiles, about

/** @param {RequestRange} request */
export function rangeKey({ track, resolution, index, block }) {
  return `${track}/${resolution}/${index}/${block}`;
}

/**
 * The resolution to ask for: a tile's bin is never wider than a pixel.
 * @param {number} nsPerPixel
 */
export function resolutionFor(nsPerPixel) {
  return 2 ** Math.max(0, Math.floor(Math.log2(nsPerPixel)));
}

/**
 * The time of a request range.
 * @param {{resolution: number, index: number}} request @returns {Range}
 */
export function timeOf({ resolution, index }) {
  const width = resolution * RANGE_BINS;
  return { from: index * width, to: (index + 1) * width };
}

/**
 * The request range at twice the resolution that contains this one.
 * @param {RequestRange} request @returns {RequestRange}
 */
export function wider({ track, resolution, index, block }) {
  return { track, resolution: resolution * 2, index: Math.floor(index / 2), block };
}

/**
 * The two request ranges at half the resolution that make up this one.
 * @param {RequestRange} request @returns {RequestRange[]}
 */
export function halves({ track, resolution, index, block }) {
  return [0, 1].map((half) => ({ track, resolution: resolution / 2, index: index * 2 + half, block }));
}

/**
 * Numbers of the request ranges that cover a range of time, of those that the trace has.
 * @param {Range} range @param {number} resolution @param {number} duration of the trace
 * @returns {{first: number, last: number}}
 */
export function rangesOf(range, resolution, duration) {
  const width = resolution * RANGE_BINS;
  const most = Math.max(0, Math.floor(duration / width));
  /** @param {number} index */
  const kept = (index) => Math.min(Math.max(index, 0), most);
  return { first: kept(Math.floor(range.from / width)), last: kept(Math.ceil(range.to / width) - 1) };
}

/**
 * The parts of a range that no other covers.
 * @param {Range} range @param {Range[]} others @returns {Range[]}
 */
export function missingOf(range, others) {
  const missing = [];
  let { from } = range;
  for (const other of [...others].sort((a, b) => a.from - b.from)) {
    if (other.from > from) missing.push({ from, to: Math.min(other.from, range.to) });
    from = Math.max(from, other.to);
    if (from >= range.to) return missing;
  }
  return from < range.to ? [...missing, { from, to: range.to }] : missing;
}

/**
 * Arranges an answer by rows.
 * @param {RequestRange} request @param {Tiles} tiles @returns {TileRows}
 */
export function makeTileRows(request, tiles) {
  const depth = request.block * RANGE_ROWS;
  const rowStart = new Uint32Array(RANGE_ROWS + 1);
  let count = 0;
  for (const level of tiles.depth) {
    if (level < depth || level >= depth + RANGE_ROWS) continue;
    rowStart[level - depth + 1]++;
    count++;
  }
  for (let row = 0; row < RANGE_ROWS; row++) rowStart[row + 1] += rowStart[row];
  const tileRows = {
    ...request,
    ...timeOf(request),
    depth,
    count,
    rowStart,
    start: new Float64Array(count),
    end: new Float64Array(count),
    function: new Uint32Array(count),
    spans: new Uint32Array(count),
    flags: new Uint32Array(count),
    bytes: ROWS_OVERHEAD + count * 28,
  };
  const next = rowStart.slice();
  tiles.depth.forEach((level, i) => {
    if (level < depth || level >= depth + RANGE_ROWS) return;
    const at = next[level - depth]++;
    tileRows.start[at] = tiles.start[i];
    tileRows.end[at] = tiles.end[i];
    tileRows.function[at] = tiles.function[i];
    tileRows.spans[at] = tiles.spans[i];
    tileRows.flags[at] = tiles.flags[i];
  });
  return tileRows;
}

/**
 * The first tile of a row that ends at or after a moment: in a row, ends grow as starts do.
 * @param {TileRows} tileRows @param {number} row within the request range @param {number} time
 */
export function firstTileFrom(tileRows, row, time) {
  let low = tileRows.rowStart[row];
  let high = tileRows.rowStart[row + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tileRows.end[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
