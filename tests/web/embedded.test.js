// The source of exported files, against the definitions of docs/viewer.md section 1 applied one span after the other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedSource } from '../../web/data/embedded.js';
import { makeTrace, packSpans, randomNumbers } from './traces.js';

/** @typedef {import('./traces.js').PlainSpan} PlainSpan */

const NAMES = ['main', 'a', 'b', 'a', 'c']; // two functions of one name

/** Spans that nest, many of length zero or one. @param {() => number} random */
function randomSpans(random) {
  /** @type {PlainSpan[]} */
  const spans = [];
  /** @param {number} from @param {number} to @param {number} depth */
  const fill = (from, to, depth) => {
    let at = from;
    while (spans.length < 300 && random() < 0.8) {
      const start = at + Math.floor(random() * Math.min(6, to - at + 1));
      const end = Math.min(to, start + Math.floor(random() ** 3 * (to - from)));
      if (start > to) return;
      spans.push({ depth, start, end, function: Math.floor(random() * NAMES.length), flags: random() < 0.1 ? 1 : random() < 0.1 ? 3 << 8 : 0 });
      if (depth < 6) fill(start, end, depth + 1);
      at = end;
    }
  };
  fill(0, 500, 0);
  return spans;
}

/** @param {PlainSpan[]} spans */
function sourceOf(spans) {
  const track = { pid: 1, tid: 1, process: 'p', thread: 't', kind: 'thread', spans: spans.length, columns: packSpans(spans) };
  const functions = NAMES.map((name) => [name, null, null, 0, null, 'own']);
  return new EmbeddedSource({ version: 1, id: 'x', name: 'x', duration: 500, wallClock: null, damage: null, functions, tracks: [track], counters: [], marks: [], hits: [] });
}

/** @param {PlainSpan} span @param {number} from @param {number} to */
const overlaps = ({ start, end }, from, to) => (start === end ? from <= start && start < to : start < to && end > from);

/** @param {PlainSpan[]} spans @param {number} from @param {number} to @param {number} resolution */
function tilesByDefinition(spans, from, to, resolution) {
  const tiles = [];
  /** @type {Map<string, PlainSpan[]>} */
  const bins = new Map();
  for (const span of spans) {
    if (span.end - span.start >= resolution) {
      if (overlaps(span, from, to)) tiles.push([span.start, span.end, span.depth, span.function, 1, span.flags]);
      continue;
    }
    const key = `${span.depth}/${Math.floor(span.start / resolution)}`;
    bins.set(key, [...(bins.get(key) ?? []), span]);
  }
  for (const own of bins.values()) {
    if (!own.some((span) => overlaps(span, from, to))) continue;
    const longest = own.reduce((best, span) => (span.end - span.start > best.end - best.start ? span : best));
    const end = Math.max(...own.map((span) => span.end));
    tiles.push([own[0].start, end, own[0].depth, longest.function, own.length, own.length === 1 ? own[0].flags : 0]);
  }
  return tiles.sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[2]) - Number(b[2]));
}

/** @param {import('../../web/data/source.js').Tiles} tiles */
const rowsOf = ({ start, end, depth, function: fn, spans, flags }) =>
  Array.from(start, (_, i) => [start[i], end[i], depth[i], fn[i], spans[i], flags[i]]);

test('tiles are those of the definition', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomNumbers(seed);
    const spans = randomSpans(random);
    const source = sourceOf(spans);
    for (const resolution of [1, 2, 8, 64, 1024]) {
      const from = Math.floor(random() * 500);
      const to = from + 1 + Math.floor(random() * 200);
      const got = rowsOf(await source.tiles(0, { from, to }, resolution, 0, 100));
      const want = tilesByDefinition(spans, from, to, resolution);
      const order = (/** @type {any[][]} */ rows) => rows.map((row) => row.join()).sort();
      assert.deepEqual(order(got), order(want), `seed ${seed}, [${from}, ${to}), resolution ${resolution}`);
      assert.deepEqual(got.map(([start, , depth]) => [start, depth]), want.map(([start, , depth]) => [start, depth]));
    }
  }
});

test('tiles of some rows only', async () => {
  const source = sourceOf(randomSpans(randomNumbers(7)));
  const all = rowsOf(await source.tiles(0, { from: 0, to: 500 }, 4, 0, 100));
  const some = rowsOf(await source.tiles(0, { from: 0, to: 500 }, 4, 2, 2));
  assert.deepEqual(some, all.filter(([, , depth]) => depth === 2 || depth === 3));
});

test('statistics are those of the definition', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomNumbers(seed);
    const spans = randomSpans(random);
    const from = Math.floor(random() * 300);
    const to = from + 1 + Math.floor(random() * 200);
    /** @type {Map<string, {calls: number, self: number, total: number, lengths: number[]}>} */
    const want = new Map();
    for (const { function: fn } of spans.filter((span) => overlaps(span, from, to))) {
      const row = want.get(NAMES[fn]) ?? { calls: 0, self: 0, total: 0, lengths: [] };
      row.calls++;
      want.set(NAMES[fn], row);
    }
    for (let time = from; time < to; time++) {
      const open = spans.filter((span) => span.start <= time && span.end > time).sort((a, b) => a.depth - b.depth);
      for (const name of new Set(open.map((span) => NAMES[span.function]))) /** @type {any} */ (want.get(name)).total++;
      const innermost = open[open.length - 1];
      if (innermost) /** @type {any} */ (want.get(NAMES[innermost.function])).self++;
    }
    for (const span of spans)
      if (span.start >= from && span.end <= to && span.start < to && !span.flags) want.get(NAMES[span.function])?.lengths.push(span.end - span.start);
    const { rows } = await sourceOf(spans).table({ from, to }, null, 100, 'self');
    assert.equal(rows.length, want.size);
    for (const { name, calls, self, total, whole, min, max, mean } of rows) {
      const row = /** @type {any} */ (want.get(name));
      const sum = row.lengths.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
      assert.deepEqual(
        { calls, self, total, whole, min, max },
        { calls: row.calls, self: row.self, total: row.total, whole: row.lengths.length, min: Math.min(...row.lengths, Infinity) % Infinity || 0, max: Math.max(...row.lengths, 0) },
        `seed ${seed}: ${name}`,
      );
      assert.ok(Math.abs(mean * whole - sum) < 1e-6);
    }
  }
});

test('the flame graph adds up', async () => {
  const source = sourceOf(randomSpans(randomNumbers(3)));
  const range = { from: 20, to: 400 };
  const root = await source.flame(range, null, 0, 'wall');
  /** @param {import('../../web/data/source.js').FlameNode} node @returns {number} */
  const selfBelow = (node) => node.self + node.omitted + node.children.reduce((sum, child) => sum + selfBelow(child), 0);
  const { time } = await source.table(range, null, 100, 'self');
  assert.equal(root.total, time);
  assert.equal(selfBelow(root), time);
});

test('the stack and the span at a moment', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomNumbers(seed);
    const spans = randomSpans(random);
    const source = sourceOf(spans);
    for (let i = 0; i < 20; i++) {
      const time = Math.floor(random() * 500);
      const open = spans.filter(({ start, end }) => start <= time && end > time).sort((a, b) => a.depth - b.depth);
      const began = spans.filter(({ start }) => start <= time);
      const last = began[began.length - 1];
      const isBrief = last?.start === time && last.end === time;
      const want = isBrief ? began.filter((span, i) => !began.slice(i + 1).some(({ depth }) => depth <= span.depth)) : open;
      const stack = await source.stack(0, time);
      assert.deepEqual(stack.map(({ depth, start, end }) => [depth, start, end]), want.map(({ depth, start, end }) => [depth, start, end]));
      for (const { depth, start, end } of open) {
        const { span, parents } = await source.span(0, depth, time);
        assert.deepEqual([span?.start, span?.end, parents.length], [start, end, depth]);
      }
    }
  }
});

test('a span of no length is found beside a longer one that begins there, and by its function beside others', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const spans = randomSpans(randomNumbers(seed));
    const source = sourceOf(spans);
    for (const { depth, start, end, function: fn } of spans) {
      if (start !== end) continue;
      const group = (await source.functions())[fn].group;
      const { span, parents } = await source.span(0, depth, start, undefined, { group });
      assert.deepEqual([span?.start, span?.end, span?.name, parents.length], [start, end, NAMES[fn], depth]);
    }
  }
});

test('next and previous visit every call of a group once', async () => {
  const spans = randomSpans(randomNumbers(5));
  const source = sourceOf(spans);
  const group = NAMES.indexOf('a');
  const calls = spans.filter((span) => NAMES[span.function] === 'a');
  const places = new Set(calls.map(({ start, depth }) => `${start}/${depth}`)); // several of length zero may share one
  let place = { track: 0, depth: -1, start: 0, end: 0 };
  let visited = 0;
  for (;;) {
    const { call, of } = await source.next(group, null, place, 'next', null);
    assert.equal(of, calls.length);
    if (call === null) break;
    visited++;
    place = call;
    assert.ok(visited <= places.size);
  }
  assert.equal(visited, places.size);
});

test('what is damaged is said, not drawn', () => {
  const spans = [{ depth: 0, start: 0, end: 5, function: 0 }];
  const whole = { pid: 1, tid: 1, process: 'p', thread: 't', kind: 'thread', spans: 1, columns: packSpans(spans) };
  /** @param {object} change */
  const load = (change) => () =>
    new EmbeddedSource({
      version: 1, id: 'x', name: 'x', duration: 5, wallClock: null, damage: null, counters: [], marks: [], hits: [],
      functions: [['main', null, null, 0, null, 'own']], tracks: [{ ...whole, ...change }],
    });
  assert.doesNotThrow(load({}));
  assert.throws(load({ spans: 2 }), /missing/);
  assert.throws(load({ columns: packSpans([{ depth: 1, start: 0, end: 5, function: 0 }]) }), /parent/);
  assert.throws(load({ columns: packSpans([{ depth: 0, start: 0, end: 5, function: 9 }]) }), /function/);
  assert.throws(load({ columns: Buffer.from([255, 255, 255, 255, 255, 255, 255, 255, 255]).toString('base64') }), /cut/);
  assert.throws(() => new EmbeddedSource({ version: 2 }), /version 2/);
});

test('functions of one name are one group, with the calls of both', async () => {
  const functions = await sourceOf(randomSpans(randomNumbers(1))).functions();
  assert.deepEqual(functions.map(({ group }) => group), [0, 1, 2, 1, 4]);
  assert.equal(functions[1].calls, functions[3].calls);
  const { matches, total } = await sourceOf(randomSpans(randomNumbers(1))).find('A', 'text', 1);
  assert.equal(total, 2); // main and a
  assert.equal(matches.length, 1);
});

test('the made trace answers everything', async () => {
  const source = new EmbeddedSource(makeTrace());
  const info = await source.trace();
  const range = { from: 0, to: info.duration };
  assert.ok(info.tracks.every(({ first, last }) => first <= last && last <= info.duration));
  assert.equal((await source.marks(range, 2)).marks.length, 2);
  assert.ok((await source.counter(0, range, 50)).length <= 51);
  assert.match(await source.text(0, range, 5), /and \d+ more calls/);
});
