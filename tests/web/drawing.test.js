// What becomes of tiles on the way to the screen: places, pixels, names, ticks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EDGED, HATCHED, INSET, PLAIN } from '../../web/timeline/colours.js';
import { valueRange } from '../../web/timeline/counter_chart.js';
import { Labels } from '../../web/timeline/labels.js';
import { itemAt, itemsBetween, makeLayout, rowsBetween, rowsOfEach } from '../../web/timeline/layout.js';
import { HeldKeys, panned, zoomed } from '../../web/timeline/motion.js';
import { Pixels } from '../../web/timeline/pixels.js';
import { makeTicks, tickStep } from '../../web/timeline/ruler_ticks.js';
import { makeTileRows, missingOf } from '../../web/timeline/request_range.js';
import { arrangement } from './arrangement.js';

const SINGLE = 10;
const MERGED = 20;
const EDGE = 30;

/** Function 0 is plain, 1 inset, 2 edged, 3 hatched. */
const palette = {
  single: Uint32Array.from([SINGLE, SINGLE + 1, SINGLE + 2, SINGLE + 3]),
  merged: Uint32Array.from([MERGED, MERGED + 1, MERGED + 2, MERGED + 3]),
  edge: Uint32Array.from([EDGE, EDGE + 1, EDGE + 2, EDGE + 3]),
  pattern: Uint8Array.from([PLAIN, INSET, EDGED, HATCHED]),
};

/** The tiles of one row. @param {number[][]} rows start, end, function, spans */
function rowOf(rows) {
  const column = (/** @type {number} */ i) => rows.map((row) => row[i] ?? (i === 3 ? 1 : 0));
  return makeTileRows({ track: 0, resolution: 1, index: 0, block: 0 }, {
    more: false, start: Float64Array.from(column(0)), end: Float64Array.from(column(1)), depth: new Uint32Array(rows.length),
    function: Uint32Array.from(column(2)), spans: Uint32Array.from(column(3)), flags: new Uint32Array(rows.length),
  });
}

/** The middle line of a row. @param {number[][]} rows @param {{pixelsPerNs?: number, from?: number, to?: number, until?: number, labels?: Labels | null, height?: number}} [options] */
function draw(rows, { pixelsPerNs = 1, from = 0, to = 20, until = Infinity, labels = null, height = 16 } = {}) {
  const pixels = new Pixels(20, 20);
  const drawn = pixels.row(rowOf(rows), 0, { top: 2, height, from: 0, until, pixelsPerNs }, from, to, palette, labels);
  return { pixels, drawn, line: [...pixels.data.slice(20 * 8, 20 * 9)], column: (/** @type {number} */ x) => Array.from({ length: 20 }, (_, y) => pixels.data[y * 20 + x]) };
}

test('a span fills its pixels but for one that parts it from the next', () => {
  const { line, column } = draw([[2, 10, 0], [10, 14, 0]]);
  assert.deepEqual(line, [0, 0, 10, 10, 10, 10, 10, 10, 10, 0, 10, 10, 10, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(column(3), [0, 0, ...Array(15).fill(SINGLE), 0, 0, 0]);
});

test('what is shorter than a pixel is still seen, and a long one is never hidden by short ones', () => {
  assert.equal(draw([[5, 5, 0]]).line[5], SINGLE);
  assert.equal(draw([[50, 51, 0]], { pixelsPerNs: 0.1, to: 200 }).line[5], SINGLE);
  const { line, drawn } = draw([[50, 51, 0], [52, 53, 1], [54, 120, 2]], { pixelsPerNs: 0.1, to: 200 });
  assert.deepEqual(line.slice(5, 8), [SINGLE + 2, SINGLE + 2, SINGLE + 2]);
  assert.equal(drawn, 2, 'one pixel is not drawn twice by what is shorter');
});

test('a span of no length has a pixel of its own beside those that touch it', () => {
  const at = (/** @type {number} */ pixelsPerNs) => draw([[0, 1, 0], [1, 1, 1], [1, 2.5, 2]], { pixelsPerNs, to: 20 }).line;
  for (const pixelsPerNs of [7, 7.4, 7.6]) {
    assert.deepEqual(at(pixelsPerNs).slice(7, 10), [SINGLE + 1, SINGLE + 2, SINGLE + 2], `${pixelsPerNs}`);
  }
});

test('merged tiles are drawn lighter', () => {
  assert.equal(draw([[5, 6, 0, 17]]).line[5], MERGED);
});

test('patterns: inlined less high, the kernel with an edge, untraced hatched', () => {
  const { column } = draw([[0, 5, 1], [5, 10, 2], [10, 18, 3]]);
  assert.deepEqual(column(1).slice(2, 5), [0, 0, SINGLE + 1]);
  assert.deepEqual(column(6).slice(14, 18), [SINGLE + 2, EDGE + 2, EDGE + 2, 0]);
  const hatched = new Set(column(12).slice(2, 17));
  assert.deepEqual([...hatched].sort(), [SINGLE + 3, EDGE + 3]);
  assert.equal(draw([[0, 5, 1]], { height: 3 }).column(1)[2], SINGLE + 1, 'low rows have no patterns');
});

test('a clip keeps to its part, without drawing over the other', () => {
  const { line } = draw([[0, 20, 0]], { from: 5, to: 10 });
  assert.deepEqual(line.map((pixel) => (pixel ? 1 : 0)).join(''), '00000111110000000000');
});

/** A font in which each letter is 2 pixels wide. @param {string[]} names */
const labelsOf = (names) => new Labels((id) => names[id], (text) => 2 * text.length, 0.25);

test('what begins when another stack runs is left out, and no name reaches into it', () => {
  const labels = labelsOf(['abcdefgh']);
  const { line, drawn } = draw([[0, 9, 0], [9.2, 20, 0]], { to: 9.6, until: 9, labels });
  assert.deepEqual([drawn, line.map((pixel) => (pixel ? 1 : 0)).join('').indexOf('0000')], [1, 8], 'a pixel at its end is free');
  assert.equal(labels.count, 1);
  assert.ok(labels.right[0] <= 9, `${labels.right[0]}`);
});

test('a name is written once, where its span begins or enters the picture', () => {
  const labels = labelsOf(['f']);
  draw([[0, 18, 0]], { from: 0, to: 8, labels });
  draw([[0, 18, 0]], { from: 8, to: 20, labels });
  assert.equal(labels.count, 1);
  assert.equal(labels.right[0], 18, 'the room is that of the whole span, not of the request range');
});

test('names are cut to the room they have', () => {
  const labels = labelsOf(['abcdefgh', 'ab', 'naïve→']);
  for (const [left, right, fn] of [[0, 20, 0], [0, 12, 0], [0, 5, 0], [0, 7, 1], [0, 30, 2]]) labels.add(left, right, 0, fn);
  assert.deepEqual([0, 1, 2, 3, 4].map((i) => labels.text(i)), ['abcdefgh', 'abcd…', '', 'ab', 'naïve→']);
  for (let i = 0; i < 5000; i++) labels.add(0, 20, 0, 0);
  assert.equal(labels.text(4000), 'abcdefgh');
});

const TRACKS = /** @type {any[]} */ ([
  { id: 0, pid: 7, tid: 9, process: 'late', thread: 'b', spans: 1, depth: 3, first: 50, last: 60, kind: 'thread' },
  { id: 1, pid: 7, tid: 7, process: 'late', thread: 'a', spans: 1, depth: 300, first: 40, last: 60, kind: 'thread' },
  { id: 2, pid: 3, tid: 3, process: 'early', thread: 'c', spans: 1, depth: 2, first: 0, last: 60, kind: 'thread' },
  { id: 3, pid: 7, tid: 0, process: 'late', thread: 'hits', spans: 1, depth: 1, first: 55, last: 56, kind: 'hits' },
]);
const COUNTERS = [{ id: 0, name: 'all', pid: 0, unit: '' }, { id: 1, name: 'own', pid: 7, unit: '' }];
const INFO = /** @type {any} */ ({ tracks: TRACKS, counters: COUNTERS });

test('tracks stand below their process, which stand in the order of their beginning', () => {
  const { items } = makeLayout(INFO, arrangement());
  const words = items.map((item) => (item.kind === 'process' ? item.name : item.kind === 'track' ? item.track.id : item.counter.name));
  assert.deepEqual(words, ['all', 'early', 2, 'late', 'own', 3, 1, 0]);
});

test('items are one below the other, folded ones small', () => {
  for (const folded of [new Set(), new Set([1])]) {
    const layout = makeLayout(INFO, arrangement({ folded: /** @type {Set<number>} */ (folded) }));
    let top = 0;
    for (const item of layout.items) {
      assert.equal(item.top, top);
      assert.equal(layout.items[itemAt(layout, top)], item);
      assert.equal(layout.items[itemAt(layout, top + item.height - 0.5)], item);
      top += item.height;
    }
    assert.equal(layout.height, top);
  }
  assert.ok(makeLayout(INFO, arrangement({ folded: new Set([1]) })).height < 400);
  const layout = makeLayout(INFO, arrangement({ tall: new Set([1]) }));
  const item = layout.byTrack.get(1);
  assert.ok(item && itemsBetween(layout, item.top + 2000, item.top + 2500).includes(item));
  assert.deepEqual(item && rowsBetween(item, item.top + 3 + 18 * 10, item.top + 3 + 18 * 20), { first: 10, last: 20 });
  assert.deepEqual(item && rowsBetween(item, 0, 1e6), { first: 0, last: 300 });
});

test('steps of the ruler are 1, 2 or 5 with zeros', () => {
  assert.deepEqual([0.3, 1, 1.5, 3, 7, 40, 999, 1e6].map(tickStep), [1, 1, 2, 5, 10, 50, 1000, 1e6]);
});

test('ticks count times from 0, and deep inside a trace from a near moment', () => {
  const whole = makeTicks({ from: 0, to: 50e6 }, 5e6);
  assert.deepEqual(whole.ticks.slice(0, 3).map(({ text }) => text), ['0', '5 ms', '10 ms']);
  assert.equal(whole.baseText, '');
  const deep = makeTicks({ from: 3_123_456_789, to: 3_123_456_889 }, 10);
  assert.equal(deep.baseText, '3.123456 s');
  assert.deepEqual(deep.ticks.slice(0, 2), [{ time: 3_123_456_790, text: '+790 ns' }, { time: 3_123_456_800, text: '+800 ns' }]);
  for (const view of [{ from: 0, to: 10 }, { from: 1e12, to: 1e12 + 10 }, { from: 5.5, to: 99.25 }, { from: 0, to: 4e12 }]) {
    const { ticks, step } = makeTicks(view, (view.to - view.from) / 10);
    assert.ok(ticks.length >= 2 && ticks.length <= 12, `${ticks.length}`);
    assert.equal(new Set(ticks.map(({ text }) => text)).size, ticks.length, 'no two ticks say the same');
    assert.ok(ticks.every(({ time }) => time % step === 0 && time >= view.from && time <= view.to));
  }
});

test('zooming keeps the moment under the pointer', () => {
  const view = zoomed({ from: 100, to: 300 }, 0.5, 150);
  assert.deepEqual(view, { from: 125, to: 225 });
  assert.deepEqual(zoomed(view, 2, 150), { from: 100, to: 300 });
  assert.deepEqual(panned({ from: 0, to: 100 }, 0.25), { from: 25, to: 125 });
});

test('keys that are held move the view as long as they are, however often frames come', () => {
  const width = (/** @type {number} */ frames) => {
    const keys = new HeldKeys();
    assert.ok(keys.press('W', 1000));
    let view = keys.move({ from: 0, to: 1000 }, 500, 1000);
    for (let i = 1; i <= frames; i++) view = keys.move(view, 500, 1000 + (400 * i) / frames);
    keys.release('w');
    assert.ok(!keys.any);
    return view.to - view.from;
  };
  assert.ok(Math.abs(width(40) - width(8)) < 1);
  assert.ok(width(8) < 500);
  assert.ok(!new HeldKeys().press('x', 0));
});

test('a counter is drawn between 0 and its highest value in view', () => {
  const samples = /** @type {[number, number, number, number][]} */ ([[0, 100, 100, 100], [10, 1, 3, 2], [20, -1, -1, -1], [30, 50, 50, 50]]);
  assert.deepEqual(valueRange(samples, { from: 12, to: 30 }), { low: -1, high: 3 });
  assert.deepEqual(valueRange([], { from: 0, to: 1 }), { low: 0, high: 1 });
});

test('what no tiles are here for is known, to draw it as not loaded', () => {
  const range = { from: 10, to: 50 };
  assert.deepEqual(missingOf(range, []), [range]);
  assert.deepEqual(missingOf(range, [{ from: 0, to: 60 }]), []);
  assert.deepEqual(missingOf(range, [{ from: 40, to: 45 }, { from: 0, to: 20 }, { from: 15, to: 30 }]), [{ from: 30, to: 40 }, { from: 45, to: 50 }]);
  assert.deepEqual(missingOf({ from: 50, to: 50 }, []), []);
});

/** @param {Partial<import('../../web/timeline/layout.js').Arrangement>} changes */
function arranged(changes) {
  return makeLayout(INFO, arrangement(changes)).items.flatMap((item) => (item.kind === 'process' ? [item.name] : item.kind === 'track' ? [item.track.id] : []));
}

test('a deep track leaves room for the others, until all its rows are wanted', () => {
  const rows = (/** @type {Set<number>} */ tall) => makeLayout(INFO, arrangement({ tall })).byTrack.get(1);
  const capped = rows(new Set());
  assert.equal(capped?.rows, rowsOfEach(3));
  assert.equal(capped?.hidden, 300 - rowsOfEach(3));
  assert.deepEqual([rows(new Set([1]))?.rows, rows(new Set([1]))?.hidden], [300, 0]);
  assert.equal(rowsOfEach(1), Infinity, 'a single thread has the page for itself');
  assert.ok(rowsOfEach(200) >= 4 && rowsOfEach(200) <= rowsOfEach(3));
});

test('tracks are found by name, process or number, pinned above all others, and put into another order', () => {
  assert.deepEqual(arranged({ filter: 'LATE' }), ['late', 3, 1, 0]);
  assert.deepEqual(arranged({ filter: '9' }), ['late', 0]);
  assert.deepEqual(arranged({ filter: 'nothing' }), []);
  assert.equal(makeLayout(INFO, arrangement({ filter: 'c' })).matching, 1);
  assert.deepEqual(arranged({ pinned: new Set([0]) }), ['Pinned', 0, 'early', 2, 'late', 3, 1]);
  assert.deepEqual(arranged({ pinned: new Set([0]), filter: 'early' }), ['early', 2]);
  const busy = TRACKS.map((track) => ({ ...track, spans: [40, 30, 50, 1][track.id] }));
  const byActivity = makeLayout({ ...INFO, tracks: busy }, arrangement({ order: 'activity' })).items;
  assert.deepEqual(byActivity.flatMap((item) => (item.kind === 'track' ? [item.track.id] : [])), [3, 0, 1, 2]);
  assert.deepEqual(arranged({ order: 'name' }), ['early', 2, 'late', 3, 1, 0]);
});
