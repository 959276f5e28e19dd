// Traces for tests of the page, in the form that a page carries in itself (web/data/embedded_trace.js). Deterministic.

import { unpackSpans } from '../../web/data/embedded_trace.js';

/** @typedef {import('../../web/data/embedded_trace.js').CarriedTrace} CarriedTrace */
/** @typedef {{depth: number, start: number, end: number, function: number, flags?: number}} PlainSpan */

/** Unsigned LEB128. @param {number[]} bytes @param {number} value */
function pushNumber(bytes, value) {
  while (value >= 128) {
    bytes.push((value % 128) + 128);
    value = Math.floor(value / 128);
  }
  bytes.push(value);
}

/** The columns of a track. @param {PlainSpan[]} spans in the order in which they begin */
export function packSpans(spans) {
  /** @type {number[]} */
  const bytes = [];
  let time = 0;
  for (const { depth, start, end, function: fn, flags = 0 } of spans) {
    for (const value of [depth, start - time, end - start, fn, flags]) pushNumber(bytes, value);
    time = start;
  }
  return Buffer.from(bytes).toString('base64');
}

/** Numbers in [0, 1), the same ones for the same seed. @param {number} seed */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NAMES = [
  ['main', 'own'], ['serve_request', 'own'], ['parse_header(std::string_view, Header&)', 'own'], ['render', 'own'], ['hash_lookup', 'own'],
  ['Cache<Key, std::unique_ptr<Value>>::evict_oldest()', 'own'], ['compress_block', 'own'], ['malloc', 'library'], ['free', 'library'],
  ['memcpy', 'library'], ['pthread_mutex_lock', 'library'], ['std::vector<int>::push_back(int const&)', 'inlined'], ['min', 'inlined'],
  ['bounds_check', 'inlined'], ['do_syscall_64', 'kernel'], ['vfs_read', 'kernel'], ['copy_user_generic', 'kernel'], ['schedule', 'kernel'],
  ['[syscall]', 'special'], ['[untraced]', 'special'],
];

/**
 * Random calls, nested, with gaps between them.
 * @param {{random: () => number, from: number, to: number, deepest: number, most: number, inferred: number}} shape
 */
function randomSpans({ random, from, to, deepest, most, inferred }) {
  /** @type {PlainSpan[]} */
  const spans = [];
  /** @param {number} start @param {number} end @param {number} depth @param {number} budget how many spans may be below */
  const fill = (start, end, depth, budget) => {
    if (depth >= deepest || budget < 1 || end <= start) return;
    const children = Math.min(budget, 1 + Math.floor(random() * 9));
    let at = start;
    for (let i = 0; i < children; i++) {
      const room = end - at;
      const length = Math.floor((room / (children - i)) * random() ** 2 * 1.6);
      const begin = at + Math.floor(random() * Math.max(0, Math.min(room - length, room / children)));
      const stop = Math.min(end, begin + length);
      const flags = random() < inferred ? 1 : 0;
      spans.push({ depth, start: begin, end: stop, function: Math.floor(random() ** 1.5 * NAMES.length), flags });
      fill(begin, stop, depth + 1, (budget - children) / children);
      at = stop;
    }
  };
  spans.push({ depth: 0, start: from, end: to, function: 0, flags: inferred > 0 ? 1 : 0 });
  fill(from, to, 1, most);
  return spans;
}

/**
 * A trace of some processes with threads, a track of hits, marks and counters.
 * @param {{seed?: number, threads?: number, spans?: number, depth?: number, duration?: number, name?: string, from?: number, inferred?: number}} [options]
 *   from: when all threads begin; without, each begins some time later. inferred: share of spans whose beginning was not seen
 * @returns {CarriedTrace}
 */
export function makeTrace({ seed = 1, threads = 4, spans = 20000, depth = 24, duration = 50_000_000, name = 'example', from, inferred = 0.01 } = {}) {
  const random = randomNumbers(seed);
  const tracks = [];
  for (let i = 0; i < threads; i++) {
    const begin = from ?? Math.floor(random() * duration * 0.1);
    const made = randomSpans({ random, from: begin, to: duration - Math.floor(random() * duration * 0.1), deepest: depth, most: spans / threads, inferred });
    tracks.push({
      pid: 100 + Math.floor(i / 3),
      tid: 100 + i,
      process: ['server', 'worker', 'logger'][Math.floor(i / 3) % 3],
      thread: i % 3 === 0 ? 'main' : `pool-${i}`,
      kind: /** @type {const} */ ('thread'),
      spans: made.length,
      columns: packSpans(made),
      arguments: { 1: { request: 17, path: '/index.html' } },
    });
  }
  const hitSpans = [0.2, 0.5, 0.8].map((share) => ({ depth: 0, start: duration * share - 5000, end: duration * share, function: 1 }));
  tracks.push({
    pid: 100, tid: 0, process: 'server', thread: 'hits', kind: /** @type {const} */ ('hits'), spans: hitSpans.length, columns: packSpans(hitSpans),
  });
  return {
    version: 1,
    id: `example-${seed}`,
    name,
    duration,
    wallClock: '1790000000000000000',
    damage: null,
    functions: NAMES.map(([text, colour], id) => [
      text,
      text.startsWith('[') ? null : `_Z${text.length}${text}`,
      colour === 'own' ? '/src/server.c' : null,
      colour === 'own' ? 10 * id + 1 : 0,
      text.startsWith('[') ? null : `0x${(0x401000 + 64 * id).toString(16)}`,
      /** @type {import('../../web/data/source.js').FunctionInfo['colour']} */ (colour),
    ]),
    tracks,
    counters: [
      {
        name: 'frequency',
        pid: 0,
        unit: 'GHz',
        samples: Array.from({ length: 200 }, (_, i) => [Math.floor((i * duration) / 200), 1.2 + Math.round(random() * 20) / 10]),
      },
    ],
    marks: [
      { track: 0, time: Math.floor(duration * 0.3), text: '[lost]', kind: 'gap' },
      { track: 1 % threads, time: Math.floor(duration * 0.4), text: '[decode error: no code at this address]', kind: 'error' },
      { track: 0, time: Math.floor(duration * 0.6), text: 'a note', kind: 'note' },
    ],
    hits: hitSpans.map(({ start, end }, i) => ({ track: threads, start, end, name: 'hit serve_request', argument: String(i), address: '0x401040' })),
    sources: { 0: { file: '/src/server.c', line: 1, first: 1, lines: ['int main(void)', '{', '    return serve();', '}'] } },
  };
}

/**
 * The trace with switches of stacks: each from the end of a call of a thread to a later beginning in the next thread, or the same.
 * @param {CarriedTrace} trace @param {number} count @returns {CarriedTrace}
 */
export function withSwitches(trace, count) {
  const threads = trace.tracks.filter(({ kind }) => kind === 'thread');
  const spans = threads.map((track) => unpackSpans(track, trace.functions.length));
  /** @type {import('../../web/data/source.js').Switch[]} */
  const switches = [];
  for (let i = 0; i < count; i++) {
    const from = i % threads.length;
    const to = (from + (i % 2)) % threads.length;
    const fromTime = spans[from].end[Math.floor(((i + 1) * spans[from].count) / (count + 2))];
    const toTime = spans[to].start.find((time) => time > fromTime && !switches.some(([, , track, other]) => track === to && other === time));
    if (toTime !== undefined && !switches.some(([track, other]) => track === from && other === fromTime)) switches.push([from, fromTime, to, toTime]);
  }
  return { ...trace, switches: switches.sort((a, b) => a[3] - b[3] || a[1] - b[1]) };
}

/**
 * A trace that is as hard to draw as can be: every pixel of many rows has a span of its own.
 * @param {{rows?: number, widest?: number, duration?: number}} [options] widest: spans of the lowest rows
 * @returns {CarriedTrace}
 */
export function makeDenseTrace({ rows = 48, widest = 16384, duration = 1 << 26 } = {}) {
  /** @type {PlainSpan[]} */
  const spans = [];
  /** @param {number} start @param {number} length @param {number} depth */
  const fill = (start, length, depth) => {
    if (depth === rows) return;
    spans.push({ depth, start, end: start + length, function: (start / length + depth * 7) % NAMES.length });
    const halves = length > duration / widest;
    fill(start, halves ? length / 2 : length, depth + 1);
    if (halves) fill(start + length / 2, length / 2, depth + 1);
  };
  fill(0, duration, 0);
  const trace = makeTrace({ threads: 1, spans: 10, duration, name: 'dense' });
  const columns = packSpans(spans);
  return { ...trace, tracks: [{ ...trace.tracks[0], spans: spans.length, columns }, trace.tracks[1]] };
}

/**
 * Many threads with few calls each, or few with a deep recursion.
 * @param {{tracks: number, depth: number, duration?: number}} shape
 * @returns {CarriedTrace}
 */
export function makeTallTrace({ tracks, depth, duration = 1e9 }) {
  /** @type {PlainSpan[]} */
  const spans = [];
  for (let level = 0; level < depth; level++)
    spans.push({ depth: level, start: level * 100, end: duration - level * 100, function: level % NAMES.length });
  const columns = packSpans(spans);
  const trace = makeTrace({ threads: 1, spans: 10, duration, name: 'tall' });
  const [track] = trace.tracks;
  return {
    ...trace,
    tracks: Array.from({ length: tracks }, (_, i) => ({ ...track, pid: 100 + (i >> 6), tid: 100 + i, thread: `thread-${i}`, spans: depth, columns })),
    marks: [],
    hits: [],
  };
}

/** Every fifth span that calls nothing becomes a time in which its thread was not running, preempted or not. @param {CarriedTrace} trace @returns {CarriedTrace} */
export function withPauses(trace) {
  const notRunning = trace.functions.length;
  const tracks = trace.tracks.map((track) => {
    if (track.kind !== 'thread') return track;
    const spans = unpackSpans(track, trace.functions.length);
    /** @type {PlainSpan[]} */
    const plain = [];
    for (let i = 0; i < spans.count; i++) {
      const calls = i + 1 < spans.count && spans.depth[i + 1] > spans.depth[i];
      const fn = !calls && i % 5 === 0 ? notRunning + (i % 2) : spans.function[i];
      plain.push({ depth: spans.depth[i], start: spans.start[i], end: spans.end[i], function: fn, flags: spans.flags[i] });
    }
    return { ...track, columns: packSpans(plain) };
  });
  return { ...trace, tracks, functions: [...trace.functions, ['[not running]', null, null, 0, null, 'special'], ['[preempted]', null, null, 0, null, 'special']] };
}
