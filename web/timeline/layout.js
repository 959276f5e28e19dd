// What stands where in the timeline, from top to bottom: processes, their counters, their tracks. Heights are CSS pixels.

/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../data/source.js').Track} Track */
/** @typedef {import('../data/source.js').Counter} Counter */
/**
 * @typedef {{kind: 'process', top: number, height: number, pid: number, name: string, tracks: number[], isHits: boolean,
 *   isStacks: boolean}} ProcessItem isStacks: not the process's own heading, but that of its stacks' tracks
 * @typedef {{kind: 'counter', top: number, height: number, counter: Counter}} CounterItem
 * @typedef {{kind: 'track', top: number, height: number, track: Track, folded: boolean, rowHeight: number, rows: number, hidden: number,
 *   pinned: boolean}} TrackItem rows: that have room; hidden: rows below those, which the track shows when it is tall
 * @typedef {ProcessItem | CounterItem | TrackItem} Item
 * @typedef {{items: Item[], height: number, byTrack: Map<number, TrackItem>, matching: number}} Layout matching: tracks that the filter
 *   lets through
 */
/**
 * How the user arranged the tracks, by their ids. tall: shown with all rows. filter: what the name of a thread or process, or its
 * number, must hold.
 * @typedef {{folded: Set<number>, tall: Set<number>, pinned: Set<number>, filter: string, order: 'start' | 'activity' | 'name'}} Arrangement
 */

export const ROW_HEIGHT = 18;
export const HEADING_HEIGHT = 24;
export const COUNTER_HEIGHT = 40;
export const TRACK_PADDING = 3; // above and below the rows
/** Stands for a process in the heading above pinned tracks. */
export const PINNED_PID = -1;
const STACKS_HEADING = 'Goroutines and fibers';
const FOLDED_ROW_HEIGHT = 3;
const FOLDED_ROWS = 7;
/** The rows of a track that is not tall: the more threads there are, the fewer, down to so many. */
const ROWS_OF_ALL = 96;
const FEWEST_ROWS = 6;
const MOST_ROWS = 24;

/**
 * The rows that each of so many threads has room for. A single one has the page for itself.
 * @param {number} threads
 */
export function rowsOfEach(threads) {
  return threads <= 1 ? Infinity : Math.min(Math.max(Math.floor(ROWS_OF_ALL / threads), FEWEST_ROWS), MOST_ROWS);
}

/** @param {Track} track @param {Arrangement} how @param {number} most rows @param {number} top @returns {TrackItem} */
function trackItem(track, how, most, top) {
  const folded = how.folded.has(track.id);
  const room = how.tall.has(track.id) ? Infinity : most;
  const rows = Math.max(1, Math.min(track.depth, folded ? FOLDED_ROWS : room));
  const rowHeight = folded ? FOLDED_ROW_HEIGHT : ROW_HEIGHT;
  const height = Math.max(rows * rowHeight, ROW_HEIGHT) + 2 * TRACK_PADDING;
  const hidden = folded ? 0 : track.depth - rows;
  return { kind: 'track', top, height, track, folded, rowHeight, rows, hidden: Math.max(hidden, 0), pinned: how.pinned.has(track.id) };
}

/** In this order. @type {Track['kind'][]} */
const KINDS = ['hits', 'thread', 'stack'];

/**
 * The hits of the trigger first, then threads, the process's first thread before the others, or as the user wants them.
 * @param {Arrangement['order']} order @returns {(a: Track, b: Track) => number}
 */
function compareTracks(order) {
  return (a, b) => {
    if (a.kind !== b.kind) return KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);
    const wanted = order === 'activity' ? b.spans - a.spans : order === 'name' ? compareNames(a.thread, b.thread) : 0;
    return wanted || Number(b.tid === b.pid) - Number(a.tid === a.pid) || a.tid - b.tid || a.id - b.id;
  };
}

/** "pool-2" comes before "pool-10". @type {(a: string, b: string) => number} */
const compareNames = new Intl.Collator('en', { numeric: true }).compare;

/**
 * Hits that have a process of their own first, then processes in the order in which they begin to do something, or as the user
 * wants them.
 * @param {Track[]} tracks @param {Arrangement['order']} order
 */
function byProcess(tracks, order) {
  /** @type {Map<number, Track[]>} */
  const processes = new Map();
  for (const track of tracks) {
    const own = processes.get(track.pid);
    if (own) own.push(track);
    else processes.set(track.pid, [track]);
  }
  /** @param {Track[]} some */
  const first = (some) => some.reduce((least, track) => Math.min(least, track.first), Infinity);
  /** @param {Track[]} some */
  const spans = (some) => some.reduce((sum, track) => sum + track.spans, 0);
  /** @param {Track[]} some */
  const programs = (some) => Number(some.some(({ kind }) => kind === 'thread'));
  /** @param {Track[]} a @param {Track[]} b */
  const wanted = (a, b) =>
    order === 'activity' ? spans(b) - spans(a) : order === 'name' ? compareNames(a[0].process, b[0].process) : 0;
  return [...processes].sort(([, a], [, b]) => programs(a) - programs(b) || wanted(a, b) || first(a) - first(b));
}

/** @param {string} filter @returns {(track: Track) => boolean} */
function matcherOf(filter) {
  const words = filter.trim().toLowerCase();
  return ({ process, thread, pid, tid }) =>
    words === '' || `${process}\n${thread}`.toLowerCase().includes(words) || words === String(tid) || words === String(pid);
}

/** @param {TraceInfo} info @param {Arrangement} how @returns {Layout} */
export function makeLayout(info, how) {
  /** @type {Item[]} */
  const items = [];
  /** @type {Map<number, TrackItem>} */
  const byTrack = new Map();
  const most = rowsOfEach(info.tracks.filter(({ kind }) => kind === 'thread').length);
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
  /** @param {Track[]} tracks */
  const addTracks = (tracks) => {
    for (const track of tracks.sort(compareTracks(how.order))) {
      const item = trackItem(track, how, track.kind === 'stack' ? FEWEST_ROWS : most, top);
      byTrack.set(track.id, item);
      add(item);
    }
  };
  /** @param {number} pid @param {string} name @param {Track[]} tracks */
  const addHeading = (pid, name, tracks, isStacks = false) =>
    add({ kind: 'process', top, height: HEADING_HEIGHT, pid, name, tracks: tracks.map(({ id }) => id), isHits: tracks.every(({ kind }) => kind === 'hits'),
      isStacks });

  const matching = info.tracks.filter(matcherOf(how.filter));
  const pinned = matching.filter(({ id }) => how.pinned.has(id));
  if (pinned.length > 0) {
    addHeading(PINNED_PID, 'Pinned', pinned);
    addTracks(pinned);
  }
  const processes = byProcess(matching.filter(({ id }) => !how.pinned.has(id)), how.order);
  const pids = new Set(info.tracks.map(({ pid }) => pid));
  addCounters(info.counters.filter(({ pid }) => !pids.has(pid)));
  for (const [pid, tracks] of processes) {
    const stacks = tracks.filter(({ kind }) => kind === 'stack');
    const own = tracks.filter(({ kind }) => kind !== 'stack');
    if (own.length > 0) addHeading(pid, own.find(({ process }) => process)?.process ?? '', own);
    addCounters(info.counters.filter((counter) => counter.pid === pid));
    addTracks(own);
    if (stacks.length > 0) addHeading(pid, STACKS_HEADING, stacks, true);
    addTracks(stacks);
  }
  return { items, height: top, byTrack, matching: matching.length };
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
