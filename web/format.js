// How durations, moments, counts and shares are written, on every part of the page.
//
// Times are ns. A thin space between number and unit would be read badly by some screen readers, so a plain one that does not
// break stands there.

const SPACE = '\u00a0';
const UNITS = [
  { name: 's', ns: 1e9 },
  { name: 'ms', ns: 1e6 },
  { name: 'us', ns: 1e3 },
  { name: 'ns', ns: 1 },
];

/**
 * The unit in which `ns` is at least 1.
 * @param {number} ns
 */
function unitOf(ns) {
  const size = Math.abs(ns);
  return UNITS.find((unit) => size >= unit.ns) ?? UNITS[UNITS.length - 1];
}

/** @param {string} digits of a whole number */
function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/**
 * A number with `decimals` digits after the point and thousands apart.
 * @param {number} value @param {number} decimals
 */
function written(value, decimals) {
  const [whole, rest] = value.toFixed(decimals).split('.');
  return rest === undefined ? grouped(whole) : `${grouped(whole)}.${rest}`;
}

/**
 * A length of time to four digits: "17 ns", "1.234 us", "12.35 ms", "104.2 s".
 * @param {number} ns
 */
export function formatDuration(ns) {
  const unit = unitOf(ns);
  const value = ns / unit.ns;
  if (unit.ns === 1) return `${written(value, Number.isInteger(value) ? 0 : 1)}${SPACE}ns`;
  // What rounding lifts to a thousand belongs to the next unit.
  const next = UNITS[UNITS.indexOf(unit) - 1];
  if (next && Math.abs(value) >= 999.95) return `${written(ns / next.ns, 3)}${SPACE}${next.name}`;
  const before = Math.floor(Math.log10(Math.max(Math.abs(value), 1))) + 1;
  return `${written(value, Math.max(4 - before, 0))}${SPACE}${unit.name}`;
}

/**
 * The length of one span, which is known to the ns: "<1 ns", else as formatDuration() has it.
 * @param {number} ns
 */
export function formatLength(ns) {
  return ns === 0 ? `<1${SPACE}ns` : formatDuration(ns);
}

/**
 * To the ns: "12,345,678 ns".
 * @param {number} ns
 */
export function formatExact(ns) {
  return `${written(ns, 0)}${SPACE}ns`;
}

/**
 * A moment with as many digits as distinguish it from others `step` ns away: "1.234568 s" at a step of 1000.
 * @param {number} ns since the beginning of the trace @param {number} step
 */
export function formatTime(ns, step = 1) {
  const unit = unitOf(ns);
  const decimals = Math.max(0, Math.ceil(Math.log10(unit.ns / Math.max(step, 1)) - 1e-9));
  return `${written(ns / unit.ns, decimals)}${SPACE}${unit.name}`;
}

/**
 * "3,204"
 * @param {number} count
 */
export function formatCount(count) {
  return written(count, 0);
}

/**
 * "1 call", "3,204 calls"
 * @param {number} count @param {string} one @param {string} [many]
 */
export function formatCounted(count, one, many = `${one}s`) {
  return `${formatCount(count)}${SPACE}${count === 1 ? one : many}`;
}

/**
 * "12.3 %"; a tiny share is not written as zero: "< 0.1 %".
 * @param {number} part @param {number} whole
 */
export function formatShare(part, whole) {
  if (!(whole > 0)) return `0${SPACE}%`;
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.05) return `<${SPACE}0.1${SPACE}%`;
  return `${written(percent, percent >= 99.95 ? 0 : 1)}${SPACE}%`;
}

/**
 * A counter's value: whole numbers whole, others to four digits.
 * @param {number} value @param {string} unit
 */
export function formatValue(value, unit) {
  const text = Number.isInteger(value) ? written(value, 0) : String(Number(value.toPrecision(4)));
  return unit === '' ? text : `${text}${SPACE}${unit}`;
}

/**
 * The moment by the wall clock, in UTC to the ns.
 * @param {string} wallClock of the trace's beginning, Unix ns @param {number} ns
 */
export function formatWallClock(wallClock, ns) {
  const moment = BigInt(wallClock) + BigInt(Math.round(ns));
  const second = new Date(Number(moment / 1000000000n) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `${second}.${String(moment % 1000000000n).padStart(9, '0')} UTC`;
}
