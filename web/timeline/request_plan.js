// Which request ranges a view needs, and which it may need next.

import { rowsBetween } from './layout.js';
import { isShort, runsOf } from './stack_tracks.js';
import { wider, resolutionFor, rangeKey, timeOf, rangesOf, RANGE_BINS, RANGE_ROWS } from './request_range.js';

/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {import('./layout.js').Item} Item */
/** @typedef {import('./layout.js').TrackItem} TrackItem */
/** @typedef {import('./request_range.js').RequestRange} RequestRange */
/**
 * What is looked at: a range of time and one of the layout's height. `pixels`: device pixels of the range.
 * @typedef {{view: Range, pixels: number, top: number, bottom: number, duration: number}} Sight
 */

/**
 * The resolution in which a sight is drawn.
 * @param {Sight} sight
 */
export function resolutionOf({ view, pixels }) {
  return resolutionFor((view.to - view.from) / Math.max(pixels, 1));
}

/**
 * The blocks of depth that are seen of a track: [first, last].
 * @param {TrackItem} item @param {Sight} sight
 */
export function blocksOf(item, sight) {
  const rows = rowsBetween(item, sight.top, sight.bottom);
  return { first: Math.floor(rows.first / RANGE_ROWS), last: Math.floor((rows.last - 1) / RANGE_ROWS) };
}

/**
 * The request ranges of a track that are seen, and those beside them.
 * @param {TrackItem} item @param {Sight} sight @param {number} resolution
 * @returns {{seen: RequestRange[], beside: RequestRange[]}}
 */
function rangesOfTrack(item, sight, resolution) {
  const { id: track, first: begin, last: end, depth, spans } = item.track;
  /** @type {RequestRange[]} */
  const seen = [];
  /** @type {RequestRange[]} */
  const beside = [];
  const active = { from: Math.max(sight.view.from, begin), to: Math.min(sight.view.to, end + 1) };
  if (spans === 0 || active.from >= active.to) return { seen, beside };
  const blocks = blocksOf(item, sight);
  const ranges = rangesOf(active, resolution, sight.duration);
  for (let block = blocks.first; block <= blocks.last; block++) {
    for (let index = ranges.first; index <= ranges.last; index++) seen.push({ track, resolution, index, block });
    beside.push({ track, resolution, index: ranges.last + 1, block }, { track, resolution, index: ranges.first - 1, block });
  }
  for (const block of [blocks.last + 1, blocks.first - 1])
    if (!item.folded && block >= 0 && block * RANGE_ROWS < depth)
      for (let index = ranges.first; index <= ranges.last; index++) beside.push({ track, resolution, index, block });
  const isActive = (/** @type {RequestRange} */ request) => timeOf(request).from <= end && timeOf(request).to > begin;
  return { seen, beside: beside.filter((request) => request.index >= 0 && isActive(request)) };
}

/**
 * The request ranges of the threads' tracks that are seen in the track of a stack.
 * @param {TrackItem} item @param {Sight} sight @param {number} resolution @returns {RequestRange[]}
 */
function rangesOfStack(item, sight, resolution) {
  /** @type {RequestRange[]} */
  const seen = [];
  const blocks = blocksOf(item, sight);
  const nsPerPixel = (sight.view.to - sight.view.from) / Math.max(sight.pixels, 1);
  for (const run of runsOf(item.track, sight.view)) {
    if (run.track === null || isShort(run, nsPerPixel)) continue;
    const ranges = rangesOf(run, resolution, sight.duration);
    for (let block = blocks.first; block <= blocks.last; block++)
      for (let index = ranges.first; index <= ranges.last; index++) seen.push({ track: run.track, resolution, index, block });
  }
  return seen;
}

/**
 * Each request once.
 * @param {RequestRange[]} requests
 */
function distinct(requests) {
  return [...new Map(requests.map((request) => [rangeKey(request), request])).values()];
}

/**
 * All request ranges of a sight: those that are seen, from the middle outwards, and those that are worth having before they are.
 * @param {Item[]} items that are seen @param {Sight} sight
 * @returns {{seen: RequestRange[], soon: RequestRange[]}}
 */
export function planRequests(items, sight) {
  const resolution = resolutionOf(sight);
  /** @type {RequestRange[]} */
  const seen = [];
  /** @type {RequestRange[]} */
  const beside = [];
  for (const item of items) {
    if (item.kind !== 'track') continue;
    if (item.track.onStack) {
      seen.push(...rangesOfStack(item, sight, resolution));
      continue;
    }
    const ranges = rangesOfTrack(item, sight, resolution);
    seen.push(...ranges.seen);
    beside.push(...ranges.beside);
  }
  const middle = (sight.view.from + sight.view.to) / 2 / (resolution * RANGE_BINS);
  seen.sort((a, b) => Math.abs(a.index + 0.5 - middle) - Math.abs(b.index + 0.5 - middle));
  /** @type {Map<string, RequestRange>} */
  const above = new Map();
  if (resolution * RANGE_BINS < sight.duration)
    for (const request of seen) above.set(rangeKey(wider(request)), wider(request));
  return { seen: distinct(seen), soon: [...above.values(), ...beside] };
}
