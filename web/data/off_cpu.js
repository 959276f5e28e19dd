// When threads were not running: spans of a name of their own (docs/time.md). No DOM here.

/** @typedef {import('./source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('./embedded_trace.js').Spans} Spans */

/**
 * Whether spans of the function are such times.
 * @param {FunctionInfo} fn
 */
export function isOffCpu({ colour, name }) {
  return colour === 'special' && (name === '[not running]' || name === '[preempted]');
}

/**
 * Whether the trace says when threads were not running.
 * @param {FunctionInfo[]} functions
 */
export function knowsOffCpu(functions) {
  return functions.some(isOffCpu);
}

/** How much of any call of a track was spent off a processor. */
export class OffCpuTimes {
  /** @type {number[]} */
  #start = [];
  /** @type {number[]} */
  #end = [];
  /** @type {number[]} ns of those before */
  #before = [];

  /** @param {Spans} spans @param {FunctionInfo[]} functions */
  constructor(spans, functions) {
    let sum = 0;
    for (let i = 0; i < spans.count; i++) {
      const { start, end } = spans;
      if (!isOffCpu(functions[spans.function[i]]) || start[i] < (this.#end[this.#end.length - 1] ?? 0)) continue;
      this.#start.push(start[i]);
      this.#end.push(end[i]);
      this.#before.push(sum);
      sum += end[i] - start[i];
    }
  }

  /** @param {number} moment */
  #until(moment) {
    let low = 0;
    let high = this.#start.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#start[middle] < moment) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : this.#before[low - 1] + Math.min(this.#end[low - 1], moment) - this.#start[low - 1];
  }

  /** @param {number} from @param {number} to */
  within(from, to) {
    return from < to ? this.#until(to) - this.#until(from) : 0;
  }
}
