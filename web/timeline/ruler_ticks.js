// Where a ruler has its ticks, and what stands at them.

/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {{time: number, text: string}} Tick */

const UNITS = /** @type {[number, string][]} */ ([[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);

/**
 * The least of 1, 2, 5, 10, 20, 50, ... ns that is not below `least`.
 * @param {number} least
 */
export function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10;
  return Math.max(1, step * power);
}

/**
 * The largest unit of which the value has at least one; ns where there is none.
 * @param {number} value
 */
function unitOf(value) {
  return UNITS.find(([size]) => Math.abs(value) >= size) ?? UNITS[UNITS.length - 1];
}

/**
 * A time in a unit, with the digits that distinguish multiples of `step`.
 * @param {number} time @param {number} step @param {[number, string]} unit
 */
function format(time, step, [size, name]) {
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return `${(time / size).toFixed(digits)} ${name}`;
}

/**
 * Ticks of a range. Deep inside a long trace all ticks would begin with the same many digits; they then count from `base`.
 * @param {Range} view @param {number} least time between two ticks, ns
 * @returns {{base: number, baseText: string, step: number, ticks: Tick[]}}
 */
export function makeTicks(view, least) {
  const step = tickStep(least);
  const far = 10 ** (Math.ceil(Math.log10(view.to - view.from)) + 1);
  const base = view.from >= 10 * far ? Math.floor(view.from / far) * far : 0;
  const unit = unitOf(Math.max(view.to - base, step));
  const ticks = [];
  for (let number = Math.ceil(view.from / step); number * step <= view.to; number++) {
    const time = number * step;
    ticks.push({ time, text: time === base && base === 0 ? '0' : (base > 0 ? '+' : '') + format(time - base, step, unit) });
  }
  return { base, baseText: base > 0 ? format(base, far, unitOf(base)) : '', step, ticks };
}
