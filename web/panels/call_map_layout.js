// Where the cells of the map of calls stand: time to the right, lengths upwards, logarithmic as in the histogram. No DOM here.

/** @typedef {import('../data/source.js').CallCell} CallCell */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../data/source.js').Range} Range */
/**
 * @typedef {{x: number, y: number, width: number, height: number, weight: number, calls: number, shortest: number, longest: number,
 *   place: Place}} Cell weight: 0 to 1, the more calls the more; shortest, longest: bounds of the lengths, ns
 */

/** What a single call has at least, so that it is seen: of the ink, and of width and height, px. */
const LEAST_WEIGHT = 0.45;
const SMALLEST = 4;

/** @param {number} ns */
const height = (ns) => Math.log2(Math.max(ns, 0.5));

/**
 * Where the next bin begins after the one that begins with `shortest` (docs/viewer.md: four bins to a power of two).
 * @param {number} shortest
 */
export function endOfBin(shortest) {
  return shortest < 4 ? shortest + 1 : shortest + 2 ** (Math.floor(Math.log2(shortest)) - 2);
}

/**
 * @param {CallCell[]} map @param {number} column ns @param {Range} range
 * @param {number} width @param {number} tall px of the area
 * @returns {{cells: Cell[], ticks: {y: number, ns: number}[]}} ticks at powers of ten, from below
 */
export function layoutCallMap(map, column, range, width, tall) {
  if (map.length === 0) return { cells: [], ticks: [] };
  const shortest = height(map.reduce((least, cell) => Math.min(least, cell[1]), Infinity));
  const longest = Math.max(height(map.reduce((most, cell) => Math.max(most, endOfBin(cell[1])), 0)), shortest + 1);
  const y = (/** @type {number} */ ns) => tall * (1 - (height(ns) - shortest) / (longest - shortest));
  const most = Math.log(map.reduce((sum, cell) => Math.max(sum, cell[2]), 1) + 1);
  const time = Math.max(range.to - range.from, 1);
  const cells = map.map(([at, from, calls, track, depth, start, end]) => {
    const to = endOfBin(from);
    return {
      x: Math.min(((at * column) / time) * width, width - SMALLEST),
      y: y(to),
      width: Math.max((column / time) * width, SMALLEST),
      height: Math.max(y(from) - y(to), SMALLEST),
      weight: LEAST_WEIGHT + (1 - LEAST_WEIGHT) * (Math.log(calls + 1) / most),
      calls,
      shortest: from,
      longest: to,
      place: { track, depth, start, end },
    };
  });
  const ticks = [];
  for (let ns = 1; height(ns) <= longest; ns *= 10) if (height(ns) >= shortest) ticks.push({ y: y(ns), ns });
  return { cells, ticks };
}
