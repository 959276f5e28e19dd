// Where the bars of a histogram of lengths stand: both axes logarithmic, for lengths differ by powers of ten, and one slow call
// among a million has to be seen. No DOM here.

/** @typedef {{from: number, to: number, count: number}} Bin [from, to) in ns */
/** @typedef {{x: number, y: number, width: number, height: number, bin: Bin}} Bar */

/** What a single call gets at least of the height. */
const SMALLEST = 0.04;

/**
 * The place of a length on the axis; shorter than half a ns is none.
 * @param {number} ns
 */
const place = (ns) => Math.log2(Math.max(ns, 0.5));

/**
 * @param {Bin[]} bins by length; empty ones may be left out
 * @param {number} width @param {number} height of the area for the bars
 * @returns {{bars: Bar[], ticks: {x: number, ns: number}[], x: (ns: number) => number}} ticks at powers of ten
 */
export function layoutHistogram(bins, width, height) {
  const filled = bins.filter((bin) => bin.count > 0);
  if (filled.length === 0) return { bars: [], ticks: [], x: () => 0 };
  const first = place(filled[0].from);
  const last = Math.max(place(filled[filled.length - 1].to), first + 1);
  const x = (/** @type {number} */ ns) => ((place(ns) - first) / (last - first)) * width;
  const most = Math.log(Math.max(...filled.map((bin) => bin.count)) + 1);
  const bars = filled.map((bin) => {
    const share = SMALLEST + (1 - SMALLEST) * (Math.log(bin.count + 1) / most);
    return { x: x(bin.from), y: height * (1 - share), width: x(bin.to) - x(bin.from), height: height * share, bin };
  });
  return { bars, ticks: ticksBetween(first, last, x), x };
}

/** @param {number} first @param {number} last @param {(ns: number) => number} x */
function ticksBetween(first, last, x) {
  const ticks = [];
  for (let ns = 1; place(ns) <= last; ns *= 10) {
    if (place(ns) >= first) ticks.push({ x: x(ns), ns });
  }
  return ticks;
}
