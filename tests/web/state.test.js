// What the user looks at, and its way into the URL and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFragment, writeFragment } from '../../web/url_state.js';
import { NARROWEST, ViewState } from '../../web/view_state.js';
import { EmbeddedSource } from '../../web/data/embedded.js';
import { readTiles } from '../../web/data/http.js';
import { RangeData } from '../../web/timeline/range_data.js';
import { spanBeginningIn, walk } from '../../web/timeline/walk_spans.js';
import { makeTrace } from './traces.js';

function chosenState() {
  const state = new ViewState(1e9);
  state.setView({ from: 1234.5, to: 5678.25 });
  state.setSpan({ track: 3, depth: 2, start: 2000, end: 3000 });
  state.setSelection({ from: 2000, to: 2500 }, [1, 3]);
  state.setSearch({ text: 'a&b#c <d>', regex: true, group: 7 });
  state.setFlags([{ time: 99, text: 'here, ~and there' }, { time: 5, text: '' }]);
  state.setPanel('calls');
  state.setTheme('dark');
  state.setSql("SELECT 'a&b' || '#', 1 + 1\nFROM calls");
  state.setFolded(4, true);
  state.setFolded(2, true);
  state.setTall(3, true);
  state.setPinned(7, true);
  state.setFilter('pool & 7');
  state.setOrder('activity');
  state.setCompared({ a: { call: { track: 1, depth: 2, start: 5, end: 9, group: 4 } }, b: { range: { from: 3, to: 70 } } });
  return state;
}

/** @param {ViewState} state */
const plain = ({ view, span, selection, search, flags, panel, theme, sql, folded, tall, pinned, filter, order, compared }) => ({
  view, span, selection, search, flags, panel, theme, sql, folded: [...folded].sort(), tall: [...tall].sort(), pinned: [...pinned].sort(), filter, order, compared,
});

test('a link brings back all that was chosen', () => {
  const state = chosenState();
  const other = new ViewState(1e9);
  readFragment(other, writeFragment(state));
  assert.deepEqual(plain(other), plain(state));
});

test('a link says of which of two traces the parts are', () => {
  const state = new ViewState(1000);
  for (const compared of [
    { a: { range: { from: 0, to: 2000 }, trace: /** @type {const} */ ('a') }, b: { range: { from: 3, to: 70 }, trace: /** @type {const} */ ('b') } },
    { a: { call: { track: 1, depth: 2, start: 5, end: 9 }, trace: /** @type {const} */ ('b') }, b: { call: { track: 0, depth: 0, start: 0, end: 9, group: 1 } } },
  ]) {
    state.setCompared(compared);
    const other = new ViewState(1000);
    readFragment(other, writeFragment(state));
    assert.deepEqual(other.compared, compared);
  }
  for (const part of ['c_0-5', 'a_', 'a_5-3', 'ab_0-5', 'a_1.2.9.3']) {
    readFragment(state, `a=${part}`);
    assert.equal(state.compared.a, null, part);
  }
});

test('an empty link is the state of the start', () => {
  const state = chosenState();
  readFragment(state, '');
  assert.deepEqual(plain(state), plain(new ViewState(1e9)));
  assert.equal(writeFragment(state), '');
});

test('a link that was cut or forged is read as far as it goes', () => {
  for (const fragment of ['view=5', 'view=9-3', 'view=a-b', 'span=1.2.3', 'span=1.2.9.3', 'flags=%', 'flags=5~%25E0', 'select=-', 'select=5-9@x', 'folded=1.x.-2', 'theme=red', 'group=1e999', '%%%', 'view=0-1e300']) {
    const state = new ViewState(1000);
    readFragment(state, fragment);
    assert.ok(state.view.from >= 0 && state.view.to <= 1000 && state.view.to > state.view.from, fragment);
    assert.equal(state.span, null);
    assert.equal(state.theme, 'system');
  }
});

test('the view stays inside the trace and is never too narrow', () => {
  const state = new ViewState(1000);
  state.setView({ from: -50, to: 50 });
  assert.deepEqual(state.view, { from: 0, to: 100 });
  state.setView({ from: 990, to: 1200 });
  assert.deepEqual(state.view, { from: 790, to: 1000 });
  state.setView({ from: 500, to: 501 });
  assert.equal(state.view.to - state.view.from, NARROWEST);
  let handled = 0;
  state.addEventListener('view', () => handled++);
  state.setView({ ...state.view });
  assert.equal(handled, 0, 'nothing changed');
});

test('columns of the server are read, and what is no such answer refused', () => {
  const buffer = new ArrayBuffer(16 + 2 * 32);
  new Uint32Array(buffer, 0, 4).set([0x3150544d, 2, 1, 0]);
  new Float64Array(buffer, 16, 4).set([1, 2, 5, 6]);
  new Uint32Array(buffer, 16 + 32).set([0, 1, 7, 8, 1, 9, 0, 256]);
  const { more, start, end, depth, function: fn, spans, flags } = readTiles(buffer);
  assert.deepEqual([more, ...start, ...end, ...depth, ...fn, ...spans, ...flags], [true, 1, 2, 5, 6, 0, 1, 7, 8, 1, 9, 0, 256]);
  assert.throws(() => readTiles(buffer.slice(0, 40)), /Reload/);
  assert.throws(() => readTiles(new ArrayBuffer(3)), /Reload/);
  assert.throws(() => readTiles(new ArrayBuffer(16)), /Reload/);
});

test('data of a range is asked for once, and again when the view leaves it or needs more detail', async () => {
  /** @type {[number, number, AbortSignal][]} */
  const asked = [];
  const data = new RangeData(async ({ from, to }, signal) => asked.push([from, to, signal]), { arrived() {}, failed: assert.fail });
  data.need({ from: 1000, to: 1100 }, 10000);
  data.need({ from: 950, to: 1050 }, 10000);
  assert.deepEqual(asked.map(([from, to]) => [from, to]), [[900, 1200]]);
  data.need({ from: 1150, to: 1250 }, 10000);
  assert.equal(asked.length, 2);
  assert.ok(asked[0][2].aborted);
  data.need({ from: 1200, to: 1210 }, 10000);
  assert.equal(asked.length, 3);
  data.need({ from: 0, to: 10000 }, 10000);
  data.need({ from: 0, to: 10000 }, 10000);
  assert.equal(asked.length, 4, 'the whole trace is asked for once');
  await null;
  assert.equal(data.answer, 4);
});

test('walking from span to span finds the neighbours that the arrays have', async () => {
  const source = new EmbeddedSource(makeTrace({ spans: 3000, duration: 1e12 }));
  const info = await source.trace();
  const whole = { from: 0, to: info.duration + 1 };
  const { start, end, depth } = await source.tiles(0, whole, 1, 0, 100);
  const spans = Array.from(start, (_, i) => ({ track: 0, depth: depth[i], start: start[i], end: end[i] })).filter((span) => span.end > span.start);
  for (let i = 0; i < spans.length; i += 7) {
    const span = spans[i];
    const row = spans.filter((other) => other.depth === span.depth);
    const at = row.indexOf(span);
    const parents = spans.filter((other) => other.depth === span.depth - 1 && other.start <= span.start && other.end >= span.end);
    const next = await walk(source, span, 'next', whole);
    if (next === null || next.end > next.start) assert.deepEqual(next, row[at + 1] ?? null);
    const previous = await walk(source, span, 'previous', whole);
    if (previous === null || previous.end > previous.start) assert.deepEqual(previous, row[at - 1] ?? null);
    assert.deepEqual(await walk(source, span, 'parent', whole), parents[0] ?? null);
    const child = await walk(source, span, 'child', whole);
    if (child) assert.ok(child.depth === span.depth + 1 && child.start >= span.start && child.end <= span.end);
    else assert.ok(!spans.some((other) => other.depth === span.depth + 1 && other.start >= span.start && other.end <= span.end));
  }
  assert.equal(await spanBeginningIn(source, 0, 0, { from: 1, to: 2 }, 'first'), null);
});
