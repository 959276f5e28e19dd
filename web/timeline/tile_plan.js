// Which tiles a view needs, and which it may need next.

import { rowsBetween } from './layout.js';
import { coarser, resolutionFor, tileKey, tileRange, tilesOf, TILE_BINS, TILE_ROWS } from './tile.js';

/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {import('./layout.js').Item} Item */
/** @typedef {import('./layout.js').TrackItem} TrackItem */
/** @typedef {import('./tile.js').TilePlace} TilePlace */
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
  return { first: Math.floor(rows.first / TILE_ROWS), last: Math.floor((rows.last - 1) / TILE_ROWS) };
}

/**
 * The tiles of a track that are seen, and those beside them.
 * @param {TrackItem} item @param {Sight} sight @param {number} resolution
 * @returns {{seen: TilePlace[], beside: TilePlace[]}}
 */
function tilesOfTrack(item, sight, resolution) {
  const { id: track, first: begin, last: end, depth, spans } = item.track;
  /** @type {TilePlace[]} */
  const seen = [];
  /** @type {TilePlace[]} */
  const beside = [];
  const active = { from: Math.max(sight.view.from, begin), to: Math.min(sight.view.to, end + 1) };
  if (spans === 0 || active.from >= active.to) return { seen, beside };
  const blocks = blocksOf(item, sight);
  const tiles = tilesOf(active, resolution, sight.duration);
  for (let block = blocks.first; block <= blocks.last; block++) {
    for (let index = tiles.first; index <= tiles.last; index++) seen.push({ track, resolution, index, block });
    beside.push({ track, resolution, index: tiles.last + 1, block }, { track, resolution, index: tiles.first - 1, block });
  }
  for (const block of [blocks.last + 1, blocks.first - 1])
    if (!item.folded && block >= 0 && block * TILE_ROWS < depth)
      for (let index = tiles.first; index <= tiles.last; index++) beside.push({ track, resolution, index, block });
  return { seen, beside: beside.filter((place) => place.index >= 0 && tileRange(place).from <= end && tileRange(place).to > begin) };
}

/**
 * All tiles of a sight: those that are seen, from the middle outwards, and those that are worth having before they are.
 * @param {Item[]} items that are seen @param {Sight} sight
 * @returns {{seen: TilePlace[], soon: TilePlace[]}}
 */
export function planTiles(items, sight) {
  const resolution = resolutionOf(sight);
  /** @type {TilePlace[]} */
  const seen = [];
  /** @type {TilePlace[]} */
  const beside = [];
  for (const item of items) {
    if (item.kind !== 'track') continue;
    const tiles = tilesOfTrack(item, sight, resolution);
    seen.push(...tiles.seen);
    beside.push(...tiles.beside);
  }
  const middle = (sight.view.from + sight.view.to) / 2 / (resolution * TILE_BINS);
  seen.sort((a, b) => Math.abs(a.index + 0.5 - middle) - Math.abs(b.index + 0.5 - middle));
  /** @type {Map<string, TilePlace>} */
  const above = new Map();
  if (resolution * TILE_BINS < sight.duration)
    for (const place of seen) above.set(tileKey(coarser(place)), coarser(place));
  return { seen, soon: [...above.values(), ...beside] };
}
