// From span to span by the keyboard: caller, first callee, the next and the one before at the same depth. Asks the source for few
// tiles at a time, however many spans there are.

import { spanOf } from '../data/place.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {'parent' | 'child' | 'next' | 'previous'} Step */

const BINS = 2048; // tiles in an answer, about
const MOST_QUESTIONS = 12; // each narrows the range by so many bins: 64 bits of time take six

/** @param {Range} range */
function resolutionFor({ from, to }) {
  return 2 ** Math.max(0, Math.floor(Math.log2((to - from) / BINS)));
}

/**
 * The first or last span of a depth that begins in a range.
 * @param {DataSource} source @param {number} track @param {number} depth @param {Range} range @param {'first' | 'last'} which
 * @returns {Promise<Place | null>}
 */
export async function spanBeginningIn(source, track, depth, range, which) {
  let { from, to } = range;
  for (let question = 0; question < MOST_QUESTIONS && from < to; question++) {
    const resolution = resolutionFor({ from, to });
    const { start, end, spans } = await source.tiles(track, { from, to }, resolution, depth, 1);
    const order = Array.from(start.keys());
    if (which === 'last') order.reverse();
    // A merged tile may have begun before the range and still hold a span that begins in it.
    const at = order.find((i) => start[i] < to && (spans[i] > 1 ? end[i] >= from : start[i] >= from));
    if (at === undefined) return null;
    if (spans[at] === 1 || resolution === 1) return { track, depth, start: start[at], end: end[at] };
    const bin = Math.floor(start[at] / resolution) * resolution;
    const narrow = { from: Math.max(from, bin), to: Math.min(to, bin + resolution) };
    if (narrow.from >= narrow.to) return null;
    const found = await spanBeginningIn(source, track, depth, narrow, which);
    if (found !== null) return found;
    if (which === 'first') from = narrow.to;
    else to = narrow.from;
  }
  return null;
}

/**
 * @param {DataSource} source @param {Place} place @param {Step} step @param {Range} whole the time of the track, with its last moment
 * @returns {Promise<Place | null>} null: there is none
 */
export async function walk(source, place, step, whole) {
  const { track, depth, start, end } = place;
  if (step === 'parent') {
    if (depth === 0) return null;
    const { parents } = await spanOf(source, place);
    const parent = parents[parents.length - 1];
    return parent ? { track, depth: parent.depth, start: parent.start, end: parent.end } : null;
  }
  if (step === 'child') return spanBeginningIn(source, track, depth + 1, { from: start, to: Math.max(end, start + 1) }, 'first');
  if (step === 'next') return spanBeginningIn(source, track, depth, { from: Math.max(end, start + 1), to: whole.to }, 'first');
  return spanBeginningIn(source, track, depth, { from: whole.from, to: start }, 'last');
}
