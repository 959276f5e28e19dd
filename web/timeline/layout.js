// What stands where in the timeline, from top to bottom: processes, their counters, their tracks. Heights are CSS pixels.

/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../data/source.js').Track} Track */
/** @typedef {import('../data/source.js').Counter} Counter */
/**
 * @typedef {{kind: 'process', top: number, height: number, pid: number, name: string, tracks: number[], isHits: boolean}} ProcessItem
 * @typedef {{kind: 'counter', top: number, height: number, counter: Counter}} CounterItem
 * @typedef {{kind: 'track', top: number, height: number, track: Track, folded: boolean, rowHeight: number, rows: number}} TrackItem
 * @typedef {ProcessItem | CounterItem | TrackItem} Item
 * @typedef {{items: Item[], height: number, byTrack: Map<number, TrackItem>}} Layout
 */

export const ROW_HEIGHT = 18;
export const HEADING_HEIGHT = 24;
export const COUNTER_HEIGHT = 40;
export const TRACK_PADDING = 3; // above and below the rows
const FOLDED_ROW_HEIGHT = 3;
const FOLDED_ROWS = 7;

/** @param {Track} track @param {boolean} folded @param {number} top @returns {TrackItem} */
function trackItem(track, folded, top) {
  const rows = Math.max(1, folded ? Math.min(track.depth, FOLDED_ROWS) : track.depth);
  const rowHeight = folded ? FOLDED_ROW_HEIGHT : ROW_HEIGHT;
  const height = Math.max(rows * rowHeight, ROW_HEIGHT) + 2 * TRACK_PADDING;
  return { kind: 'track', top, height, track, folded, rowHeight, rows };
}

/**
 * The hits of the trigger first, then threads, the process's first thread before the others.
 * @param {Track} a @param {Track} b
 */
function compareTracks(a, b) {
  if (a.kind !== b.kind) return a.kind === 'hits' ? -1 : 1;
  return Number(b.tid === b.pid) - Number(a.tid === a.pid) || a.tid - b.tid || a.id - b.id;
}

/**
 * Hits that have a process of their own first, then processes in the order in which they begin to do something.
 * @param {Track[]} tracks
 */
function byProcess(tracks) {
  /** @type {Map<number, Track[]>} */
  const processes = new Map();
  for (const track of tracks) {
    const own = processes.get(track.pid);
    if (own) own.push(track);
    else processes.set(track.pid, [track]);
  }
  /** @param {Track[]} some */
  const first = (some) => Math.min(...some.map((track) => track.first));
  /** @param {Track[]} some */
  const programs = (some) => Number(some.some(({ kind }) => kind === 'thread'));
  return [...processes].sort(([, a], [, b]) => programs(a) - programs(b) || first(a) - first(b));
}

/** @param {TraceInfo} info @param {Set<number>} folded ids of tracks @returns {Layout} */
export function makeLayout(info, folded) {
  /** @type {Item[]} */
  const items = [];
  /** @type {Map<number, TrackItem>} */
  const byTrack = new Map();
  let top = 0;
  /** @param {Item} item */
  const add = (item) => {
    items.push(item);
    top += item.height;
  };
  /** @param {Counter[]} counters */
  const addCounters = (counters) => {
    for (const counter of counters) add({ kind: 'counter', top, height: COUNTER_HEIGHT, counter });
  };
  const processes = byProcess(info.tracks);
  addCounters(info.counters.filter(({ pid }) => !processes.some(([own]) => own === pid)));
  for (const [pid, tracks] of processes) {
    const name = tracks.find(({ process }) => process)?.process ?? '';
    add({ kind: 'process', top, height: HEADING_HEIGHT, pid, name, tracks: tracks.map(({ id }) => id), isHits: tracks.every(({ kind }) => kind === 'hits') });
    addCounters(info.counters.filter((counter) => counter.pid === pid));
    for (const track of tracks.sort(compareTracks)) {
      const item = trackItem(track, folded.has(track.id), top);
      byTrack.set(track.id, item);
      add(item);
    }
  }
  return { items, height: top, byTrack };
}

/**
 * Number of the item at a height; that of the first or last where there is none.
 * @param {Layout} layout @param {number} y
 */
export function itemAt(layout, y) {
  let low = 0;
  let high = layout.items.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (layout.items[middle].top <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The items that are seen.
 * @param {Layout} layout @param {number} from @param {number} to
 */
export function itemsBetween(layout, from, to) {
  const items = [];
  for (let i = itemAt(layout, from); i < layout.items.length && layout.items[i].top < to; i++) items.push(layout.items[i]);
  return items;
}

/**
 * The rows of a track that are seen: [first, last).
 * @param {TrackItem} item @param {number} from @param {number} to of the layout's height
 */
export function rowsBetween(item, from, to) {
  const top = item.top + TRACK_PADDING;
  /** @param {number} row */
  const kept = (row) => Math.min(Math.max(row, 0), item.rows);
  return { first: kept(Math.floor((from - top) / item.rowHeight)), last: kept(Math.ceil((to - top) / item.rowHeight)) };
}
