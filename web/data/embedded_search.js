// Finding spans among those of a track that the page holds itself (embedded_trace.js): by moment, by range, by parent.

/** @typedef {import('./embedded_trace.js').Spans} Spans */
/** @typedef {import('./source.js').Range} Range */

/**
 * How many of a track's spans begin before a moment.
 * @param {Spans} spans @param {number} time
 */
export function beginBefore(spans, time) {
  let low = 0;
  let high = spans.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans.start[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Of a span and all around it, outermost first.
 * @param {Spans} spans @param {number} span -1: none
 */
export function chain(spans, span) {
  const numbers = [];
  for (let i = span; i >= 0; i = spans.parent[i]) numbers.push(i);
  return numbers.reverse();
}

/**
 * Whether a span overlaps [from, to) as docs/viewer.md means it.
 * @param {Spans} spans @param {number} i @param {Range} range
 */
export function overlaps(spans, i, { from, to }) {
  const start = spans.start[i];
  const end = spans.end[i];
  return start === end ? from <= start && start < to : start < to && end > from;
}

/**
 * Calls `visit` with the number of each span that overlaps the range, in order of their beginnings.
 * @param {Spans} spans @param {Range} range @param {(span: number) => void} visit
 */
export function eachOverlapping(spans, range, visit) {
  const first = beginBefore(spans, range.from);
  for (const i of chain(spans, first - 1)) if (overlaps(spans, i, range)) visit(i);
  for (let i = first; i < spans.count && spans.start[i] < range.to; i++) visit(i);
}

/**
 * The numbers of the spans that hold a moment, outermost first; one for each depth. Where one of length zero began last, it with
 * its callers, also those that end at the moment.
 * @param {Spans} spans @param {number} time
 */
export function stackAt(spans, time) {
  const last = beginBefore(spans, nextAfter(time)) - 1;
  const stack = chain(spans, last);
  const isBrief = last >= 0 && spans.start[last] === time && spans.end[last] === time;
  return isBrief ? stack : stack.filter((i) => spans.end[i] > time);
}

/**
 * The span of a depth that holds a moment, or else the last one of length zero there; -1 when no span does.
 * @param {Spans} spans @param {number} depth @param {number} time
 */
export function spanAt(spans, depth, time) {
  const begun = beginBefore(spans, nextAfter(time));
  const open = chain(spans, begun - 1).filter((i) => spans.end[i] > time);
  if (depth < open.length) return open[depth];
  for (let i = begun - 1; i >= 0 && spans.start[i] === time; i--)
    if (spans.depth[i] === depth && spans.end[i] === time) return i;
  return -1;
}

/**
 * The first span of no length at a depth and a moment; -1 for no such span.
 * @param {Spans} spans @param {number} depth @param {number} time @param {(fn: number) => boolean} isMeant
 */
export function briefSpanAt(spans, depth, time, isMeant) {
  for (let i = beginBefore(spans, time); i < spans.count && spans.start[i] === time; i++)
    if (spans.depth[i] === depth && spans.end[i] === time && isMeant(spans.function[i])) return i;
  return -1;
}

/**
 * The least number that is greater than a whole number of ns and can be a time's bound.
 * @param {number} time
 */
function nextAfter(time) {
  return Math.floor(time) + 1;
}
