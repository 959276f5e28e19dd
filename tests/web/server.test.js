// The real server's answers on a trace are those of the page's own source, which applies the definitions span by span.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EmbeddedSource } from '../../web/data/embedded.js';
import { HttpSource } from '../../web/data/http.js';
import { writeFxt } from './fxt.js';
import { makeTrace, randomNumbers, withPauses, withSwitches } from './traces.js';
import { BINARY, viewTrace } from './viewer.js';

/** @typedef {import('../../web/data/source.js').DataSource} DataSource */
/** @typedef {import('../../web/data/source.js').FlameNode} FlameNode */
/** @typedef {import('../../web/data/source.js').Range} Range */

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;
const QUERIES = 60;

/** @type {Awaited<ReturnType<typeof viewTrace>>} */
let viewer;
/** @type {HttpSource} */
let server;
/** @type {EmbeddedSource} */
let own;
/** @type {number} */
let duration;
/** @type {string[]} names of functions by id, of the server and of our own source */
let serverNames;
/** @type {string[]} */
let ownNames;

before(async () => {
  if (skip) return;
  // Times begin at the first event in both.
  const trace = withSwitches(withPauses(makeTrace({ spans: 6000, threads: 3, duration: 3_000_000, seed: 5, from: 0, inferred: 0 })), 40);
  viewer = await viewTrace(writeFxt(trace));
  server = new HttpSource(new URL('api/', viewer.url));
  own = new EmbeddedSource({ ...trace, tracks: trace.tracks.filter(({ kind }) => kind === 'thread'), marks: [], hits: [], counters: [] });
  duration = (await server.trace()).duration;
  serverNames = (await server.functions()).map(({ name }) => name);
  ownNames = (await own.functions()).map(({ name }) => name);
});
after(() => viewer?.close());

/** Random ranges of all sizes, the whole trace first. @returns {Generator<Range>} */
function* ranges(count = QUERIES) {
  const random = randomNumbers(9);
  yield { from: 0, to: duration + 1 };
  for (let i = 0; i < count; i++) {
    const width = Math.ceil(duration ** random());
    const from = Math.floor(random() * (duration - width));
    yield { from, to: from + width };
  }
}

/** Asks both, and gives both answers. @template Answer @param {(source: DataSource) => Promise<Answer>} question @returns {Promise<[Answer, Answer]>} */
async function both(question) {
  return [await question(server), await question(own)];
}

test('facts and functions', { skip }, async () => {
  const [theirs, ours] = await both((source) => source.trace());
  const facts = (/** @type {import('../../web/data/source.js').TraceInfo} */ { spans, tracks }) => ({
    spans,
    tracks: tracks.map(({ pid, tid, process, thread, spans: count, depth, first, last, kind }) => [pid, tid, process, thread, count, depth, first, last, kind]),
  });
  assert.deepEqual(facts(theirs), facts(ours));
  const calls = async (/** @type {DataSource} */ source) =>
    (await source.functions()).filter(({ calls: count }) => count > 0).map(({ name, calls: count }) => `${name} ${count}`).sort();
  const [a, b] = await both(calls);
  assert.deepEqual(a, b);
});

test('tiles', { skip }, async () => {
  const random = randomNumbers(4);
  for (const range of ranges()) {
    const track = Math.floor(random() * 3);
    const resolution = 2 ** Math.floor(random() * 16);
    const depth = Math.floor(random() * 6);
    const [theirs, ours] = await both((source) => source.tiles(track, range, resolution, depth, 20));
    const rows = (/** @type {import('../../web/data/source.js').Tiles} */ tiles, /** @type {string[]} */ names) =>
      Array.from(tiles.start, (start, i) => [start, tiles.end[i], tiles.depth[i], names[tiles.function[i]], tiles.spans[i]].join());
    assert.deepEqual(rows(theirs, serverNames).sort(), rows(ours, ownNames).sort(), `${JSON.stringify(range)} ${resolution}`);
    assert.ok(Array.from(theirs.start).every((start, i) => i === 0 || theirs.start[i - 1] <= start), 'by start');
  }
});

test('spans and stacks', { skip }, async () => {
  const random = randomNumbers(8);
  for (let i = 0; i < QUERIES; i++) {
    const time = Math.floor(random() * duration);
    const plain = (/** @type {{depth: number, start: number, end: number}[]} */ stack) => stack.filter(({ start, end }) => end > start).map(({ depth, start, end }) => [depth, start, end]);
    const [theirs, ours] = await both((source) => source.stack(0, time));
    assert.deepEqual(plain(theirs), plain(ours));
    const depth = Math.floor(random() * ours.length);
    const [a, b] = await both((source) => source.span(0, depth, time));
    const facts = (/** @type {typeof a} */ { span, parents }) =>
      span && [span.name, span.start, span.end, span.depth, span.self, span.offCpu, span.children, span.beganInferred, span.ended, plain(parents)];
    assert.deepEqual(facts(a), facts(b));
  }
});

test('the table of functions', { skip }, async () => {
  for (const range of ranges()) {
    const [theirs, ours] = await both((source) => source.table(range, null, 100, 'self'));
    const rows = (/** @type {typeof theirs} */ { rows: all }) =>
      all.map(({ name, calls, total, self, offCpu, whole, min, max, mean }) => [name, calls, total, self, offCpu, whole, min, max, Math.round(mean * whole)].join()).sort();
    assert.deepEqual(rows(theirs), rows(ours), JSON.stringify(range));
    assert.equal(theirs.offCpu, ours.offCpu);
    const [a, b] = await both((source) => source.table(range, null, 3, 'onCpu'));
    const onCpu = (/** @type {typeof a} */ { rows: some }) => some.map(({ total, offCpu }) => total - offCpu);
    assert.deepEqual(onCpu(a), onCpu(b));
  }
});

test('the flame graph', { skip }, async () => {
  for (const range of ranges(20)) for (const time of /** @type {const} */ (['cpu', 'wall'])) {
    const [theirs, ours] = await both((source) => source.flame(range, null, 1e-3, time));
    /** @param {FlameNode} node @param {string} path @param {Map<string, string>} into */
    const flat = (node, path, into) => {
      for (const child of node.children) {
        into.set(`${path}/${child.name}`, [child.calls, child.total, child.self].join());
        flat(child, `${path}/${child.name}`, into);
      }
      return into;
    };
    const [a, b] = [theirs, ours].map((root) => [...flat(root, '', new Map())].sort());
    assert.deepEqual(a, b, JSON.stringify(range));
    assert.equal(theirs.total, ours.total);
  }
});

test('calls of a function, from call to call', { skip }, async () => {
  const name = 'render';
  const groups = [serverNames, ownNames].map((names) => names.indexOf(name));
  let lengths = { from: 0, to: 0 };
  for (const range of ranges(20)) {
    const by = /** @type {const} */ (range.from % 2 ? 'onCpu' : 'length');
    const asked = { slowest: 5, by, columns: 30, ...(lengths.to > 0 ? { lengths } : {}) };
    const theirs = await server.calls(groups[0], range, null, asked);
    const ours = await own.calls(groups[1], range, null, asked);
    const facts = (/** @type {typeof theirs} */ { calls, recursive, total, offCpu, whole, sum, min, max, median, p99, histogram }) => ({
      calls, recursive, total, offCpu, whole, sum, min, max, median, p99, histogram: histogram.filter(({ count }) => count > 0).sort((a, b) => a.from - b.from),
    });
    assert.deepEqual(facts(theirs), facts(ours), JSON.stringify(range));
    const lengthsOf = (/** @type {typeof theirs} */ { slowest }) => slowest.map(({ start, end, offCpu }) => [end - start, offCpu]);
    assert.deepEqual(lengthsOf(theirs), lengthsOf(ours));
    assert.deepEqual([theirs.column, theirs.map], [ours.column, ours.map]);
    const bin = ours.histogram[Math.floor(ours.histogram.length / 2)];
    if (bin) lengths = { from: bin.from, to: 2 * bin.to };
    const cut = (/** @type {typeof theirs} */ { slowest }) => slowest.map((call) => `${call.start} ${call.depth} ${call.cut}`).sort();
    assert.deepEqual(cut(theirs), cut(ours));
  }
  let place = { track: 0, depth: 0, start: 0, end: 0 };
  for (let i = 0; i < 50; i++) {
    const theirs = await server.next(groups[0], null, place, 'next', null);
    const ours = await own.next(groups[1], null, place, 'next', null);
    assert.deepEqual([theirs.call, theirs.of], [ours.call, ours.of]);
    if (ours.call === null) break;
    // Several calls of length zero may share a place; which of them is meant is not defined.
    if (ours.call.end > ours.call.start) assert.equal(theirs.ordinal, ours.ordinal);
    place = ours.call;
  }
});

test('finding functions', { skip }, async () => {
  for (const [query, mode] of /** @type {[string, 'text' | 'regex'][]} */ ([['E', 'text'], ['^[a-f].*k$', 'regex'], ['nothing', 'text']])) {
    const [theirs, ours] = await both((source) => source.find(query, mode, 100));
    const names = (/** @type {typeof theirs} */ { matches, total }) => [total, ...matches.map(({ name, calls }) => `${name} ${calls}`).sort()];
    assert.deepEqual(names(theirs), names({ ...ours, matches: ours.matches.filter(({ calls }) => calls > 0), total: ours.matches.filter(({ calls }) => calls > 0).length }));
  }
});

test('what is wrong is said in words', { skip }, async () => {
  await assert.rejects(server.tiles(99, { from: 0, to: 1 }, 1, 0, 1), /\w+ .*\w+/);
  await assert.rejects(server.find('(', 'regex', 5), /\w+/);
});

test('switches of stacks', { skip }, async () => {
  const [theirs, ours] = await both((source) => source.trace());
  assert.equal(theirs.switchCount, ours.switchCount);
  assert.ok(ours.switchCount > 20, `${ours.switchCount}`);
  const sorted = (/** @type {import('../../web/data/source.js').Switch[]} */ switches) => switches.map(String).sort();
  for (const range of ranges()) {
    const [theirSwitches, ourSwitches] = await both((source) => source.switches(range, 1000));
    assert.deepEqual(sorted(theirSwitches.switches), sorted(ourSwitches.switches));
    assert.equal(theirSwitches.more, false);
  }
  const some = await server.switches({ from: 0, to: duration + 1 }, 5);
  assert.deepEqual([some.switches.length, some.more], [5, true]);
});
