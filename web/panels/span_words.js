// What is known of a span, in words. No DOM here.
import { formatCounted, formatDuration, formatExact, formatLength, formatTime, formatWallClock } from '../format.js';

/** @typedef {import('../data/source.js').SpanDetails} SpanDetails */
/** @typedef {import('../data/source.js').StackEntry} StackEntry */
/** @typedef {import('../data/source.js').Track} Track */

/** @type {Record<string, string>} */
const ENDINGS = {
  return: 'return',
  'tail call': 'tail call: the next function took its frame over',
  unwound: 'unwound by an exception or longjmp',
  gap: 'somewhere in a gap, where there is no data',
  'end of trace': 'not: it was still open when the trace ended',
  exec: 'the process became another program',
  filter: 'the region of the filter ended',
  switch: 'another stack went on (a fiber, a goroutine)',
};

/**
 * Why it ended.
 * @param {SpanDetails} span
 */
export function endingWords(span) {
  const words = ENDINGS[span.ended.replace(/[-_]/g, ' ')] ?? span.ended;
  return span.endInferred ? `${words} (inferred)` : words;
}

/** @param {SpanDetails} span */
export function beginningWords(span) {
  return span.beganInferred ? 'inferred: it was open already when tracing began, or began in a gap' : 'seen';
}

/**
 * "file:line" as far as they are known; null: not at all.
 * @param {SpanDetails} span
 */
export function placeInSource({ file, line }) {
  if (file === null) return null;
  return line > 0 ? `${file}:${line}` : file;
}

/**
 * The lines of the panel, in order; what is not known is left out.
 * @param {SpanDetails} span @param {Track | undefined} track @param {string | null} wallClock of the trace's beginning
 * @returns {[string, string][]}
 */
export function factsOf(span, track, wallClock) {
  const length = span.end - span.start;
  /** @param {number} ns */
  const both = (ns) => (ns < 1000 ? formatExact(ns) : `${formatDuration(ns)} (${formatExact(ns)})`);
  /** @type {[string, string | null][]} */
  const facts = [
    ...span.values.map(([name, value]) => /** @type {[string, string]} */ ([name, value])),
    ['Result', span.result],
    ['Duration', length > 0 ? both(length) : formatLength(length)],
    ['On CPU', span.offCpu > 0 ? `${both(length - span.offCpu)}; its thread was not running for ${formatDuration(span.offCpu)}` : null],
    ['Self time', both(span.self)],
    ['Start', formatTime(span.start)],
    ['Wall clock', wallClock === null ? null : formatWallClock(wallClock, span.start)],
    ['Thread', track ? `${track.thread} (${track.process})` : null],
    ['Depth', String(span.depth)],
    ['Calls it made', formatCounted(span.children, 'direct call')],
    ['Source', placeInSource(span)],
    ['Symbol', span.symbol === span.name ? null : span.symbol],
    ['Address', span.address],
    ['Beginning', beginningWords(span)],
    ['End', endingWords(span)],
    ['Gap', span.acrossGap ? 'it was active before a gap and after it' : null],
    ...Object.entries(span.arguments).map(([name, value]) => /** @type {[string, string]} */ ([name, String(value)])),
  ];
  return facts.filter(/** @returns {fact is [string, string]} */ (fact) => fact[1] !== null);
}

/**
 * The span as text, with its stack, outermost first.
 * @param {SpanDetails} span @param {[string, string][]} facts @param {string[]} parents names
 */
export function spanText(span, facts, parents) {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  const lines = facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`);
  const stack = [...parents, span.name].map((name, depth) => `${'  '.repeat(depth)}${name}`);
  return `${[span.name, ...lines, '', ...stack].join('\n').replaceAll('\u00a0', ' ')}\n`;
}

/**
 * Of a stack too deep to be listed, the outermost and the innermost.
 * @template T @param {T[]} stack @param {number} outer @param {number} inner
 * @returns {{outer: T[], left: number, inner: T[]}} left: how many between them are left out
 */
export function foldStack(stack, outer, inner) {
  if (stack.length <= outer + inner) return { outer: stack, left: 0, inner: [] };
  return { outer: stack.slice(0, outer), left: stack.length - outer - inner, inner: stack.slice(-inner) };
}
