// The parts of web/panels/ that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { momentForFlag } from '../../web/panels/flags.js';
import { boxAt, boxOfPath, layoutFlame, matchedTime, neighbourOf, nodeAt, pathOf } from '../../web/panels/flame_layout.js';
import { flameView } from '../../web/panels/flame_views.js';
import { endOfBin, layoutCallMap } from '../../web/panels/call_map_layout.js';
import { layoutHistogram } from '../../web/panels/histogram_layout.js';
import { commandOf } from '../../web/panels/keys.js';
import { hitWords } from '../../web/panels/marks.js';
import { matcherOf } from '../../web/panels/name_matcher.js';
import { perfettoWarnings } from '../../web/panels/perfetto.js';
import { RangeChoice } from '../../web/panels/range_choice.js';
import { nextIndex } from '../../web/panels/roving.js';
import { exactFirst } from '../../web/panels/search.js';
import { ordered, sortedRows, sortOfSource } from '../../web/panels/sorting.js';
import { endingWords, factsOf, foldStack, spanText } from '../../web/panels/span_words.js';
import { whereOf } from '../../web/panels/call_walk.js';
import { stepToCall, viewThatShows } from '../../web/panels/walk.js';
import { ViewState } from '../../web/view_state.js';

/** @typedef {import('../../web/data/source.js').FlameNode} FlameNode */
/** @typedef {import('../../web/data/source.js').Place} Place */

/** @param {string} text */
const plain = (text) => text.replaceAll('\u00a0', ' ');

/** @param {number} group @param {number} total @param {FlameNode[]} [children] @param {number} [omitted] @returns {FlameNode} */
function flameNode(group, total, children = [], omitted = 0) {
  return { group, name: `f${group}`, calls: 1, total, self: 0, omitted, children };
}

const FLAME = flameNode(-1, 100, [flameNode(1, 60, [flameNode(2, 30), flameNode(1, 20)], 10), flameNode(2, 40)]);

test('flame graph: children lie below their parent, as wide as their time', () => {
  const boxes = layoutFlame(FLAME, [], 1000);
  boxes.sort((a, b) => a.depth - b.depth || a.x - b.x);
  assert.deepEqual(boxes.map((box) => [box.node?.group ?? 'omitted', box.depth, box.x, box.width]), [
    [-1, 0, 0, 1000], [1, 1, 0, 600], [2, 1, 600, 400], [2, 2, 0, 300], [1, 2, 300, 200], ['omitted', 2, 500, 100],
  ]);
});

test('flame graph: the zoomed node and those above it fill the width', () => {
  const boxes = layoutFlame(FLAME, [1], 1000);
  assert.deepEqual(boxes.slice(0, 2).map((box) => [box.node?.group, box.width]), [[-1, 1000], [1, 1000]]);
  assert.equal(boxAt(boxes, 10, 2)?.node?.group, 2);
  assert.equal(boxAt(boxes, 999, 2)?.node, null);
  assert.equal(boxAt(boxes, 10, 3), null);
  // A path that another answer does not hold is followed as far as it goes.
  assert.equal(pathOf(layoutFlame(FLAME, [1, 7], 1000)[1]).join(), '1');
  for (const box of boxes) if (box.node !== null) assert.equal(boxOfPath(boxes, pathOf(box)), box);
  assert.equal(boxOfPath(boxes, [1, 7]), null);
  assert.equal(nodeAt(FLAME, [1, 2])?.total, 30);
  assert.equal(nodeAt(FLAME, [1, 7]), null);
});

test('flame graph: arrows walk', () => {
  const boxes = layoutFlame(FLAME, [], 1000);
  const child = neighbourOf(boxes, boxes[0], 'ArrowDown');
  assert.equal(child.node?.group, 1);
  const next = neighbourOf(boxes, child, 'ArrowRight');
  assert.equal(next.node?.group, 2);
  assert.equal(neighbourOf(boxes, next, 'ArrowRight'), next);
  assert.equal(neighbourOf(boxes, next, 'ArrowDown'), next);
  assert.equal(neighbourOf(boxes, child, 'ArrowUp'), boxes[0]);
});

test('flame graph: what matches below another that matches counts once', () => {
  assert.equal(matchedTime(FLAME, (group) => group === 1), 60);
  assert.equal(matchedTime(FLAME, (group) => group === 2), 70);
});

test('flame graph: a stack of 100,000 frames is laid out', () => {
  let node = flameNode(0, 10);
  for (let depth = 0; depth < 100000; depth++) node = flameNode(0, 10, [node]);
  assert.equal(layoutFlame(node, [], 100).length, 100001);
});

test('histogram: both axes are logarithmic, a single call is seen', () => {
  const bins = [{ from: 8, to: 16, count: 1e6 }, { from: 1024, to: 2048, count: 1 }, { from: 2048, to: 4096, count: 0 }];
  const { bars, ticks, x } = layoutHistogram(bins, 800, 100);
  assert.deepEqual(bars.map((bar) => Math.round(bar.x)), [0, 700]);
  assert.deepEqual(bars.map((bar) => Math.round(bar.width)), [100, 100]);
  assert.equal(bars[0].height, 100);
  assert.ok(bars[1].height > 4);
  assert.deepEqual(ticks.map((tick) => tick.ns), [10, 100, 1000]);
  assert.equal(Math.round(x(128)), 400);
});

test('histogram: none, and one of calls without length', () => {
  assert.deepEqual(layoutHistogram([], 800, 100).bars, []);
  const { bars } = layoutHistogram([{ from: 0, to: 1, count: 3 }], 800, 100);
  assert.deepEqual([bars[0].x, bars[0].width], [0, 800]);
});

test('table: order and filter', () => {
  /** @param {number} group @param {string} name @param {number} self @param {number} whole @param {number} max */
  const row = (group, name, self, whole, max) => ({ group, name, calls: group, total: self, self, whole, min: 0, max, mean: 0 });
  const rows = [row(1, 'beta', 5, 0, 0), row(2, 'Alpha', 9, 1, 3), row(3, 'gamma', 5, 1, 8)];
  /** @param {import('../../web/panels/sorting.js').Column} column @param {boolean} descending */
  const names = (column, descending, filter = '') => sortedRows(rows, { column, descending }, filter).map((each) => each.name).join();
  assert.equal(names('self', true), 'Alpha,beta,gamma');
  assert.equal(names('name', false), 'Alpha,beta,gamma');
  assert.equal(names('max', true), 'gamma,Alpha,beta');
  assert.equal(names('max', false), 'Alpha,gamma,beta');
  assert.equal(names('self', true, 'ALPH'), 'Alpha');
  assert.deepEqual(ordered({ column: 'self', descending: true }, 'self'), { column: 'self', descending: false });
  assert.deepEqual(ordered({ column: 'self', descending: true }, 'name'), { column: 'name', descending: false });
  assert.equal(sortOfSource('max'), 'max');
  assert.equal(sortOfSource('name'), 'self');
});

test('names that the search means', () => {
  assert.equal(matcherOf({ text: '', regex: false, group: null }), null);
  assert.equal(matcherOf({ text: '(', regex: true, group: null }), null);
  assert.equal(matcherOf({ text: 'LOC', regex: false, group: null })?.(1, 'malloc'), true);
  assert.equal(matcherOf({ text: '^m.*c$', regex: true, group: null })?.(1, 'malloc'), true);
  assert.equal(matcherOf({ text: 'x', regex: false, group: 4 })?.(4, 'malloc'), true);
  assert.equal(matcherOf({ text: 'x', regex: false, group: 4 })?.(5, 'x'), false);
});

/** @type {import('../../web/data/source.js').SpanDetails} */
const SPAN = {
  track: 3, depth: 2, start: 1500, end: 4000, self: 400, children: 2, function: 7, name: 'parse', symbol: '_Z5parsev', file: '/src/a.cc', line: 12,
  address: '0x401000', beganInferred: false, endInferred: true, acrossGap: true, ended: 'tail call', arguments: { request: 17 },
  values: [['size', '4096'], ['name', '"x"']], result: '-1',
};

test('a search for values', () => {
  for (const text of ['parse(size>4096)', 'f(int) (a="(", b!=2) ', '(name~x)']) assert.equal(whereOf({ text, regex: false, group: null }), text);
  for (const text of ['parse', 'f(int)', 'std::less<int>', '']) assert.equal(whereOf({ text, regex: false, group: null }), null);
  assert.equal(whereOf({ text: '(?=a)', regex: true, group: null }), null);
});

test('a span in words', () => {
  const track = { id: 3, pid: 1, tid: 2, process: 'server', thread: 'main', spans: 1, depth: 3, first: 0, last: 1, kind: /** @type {const} */ ('thread') };
  const facts = factsOf(SPAN, track, null);
  const map = new Map(facts.map(([name, value]) => [name, plain(value)]));
  assert.equal(map.get('Duration'), '2.500 us (2,500 ns)');
  assert.equal(map.get('Self time'), '400 ns');
  assert.equal(map.get('Source'), '/src/a.cc:12');
  assert.equal(map.get('Thread'), 'main (server)');
  assert.equal(map.get('request'), '17');
  assert.deepEqual(facts.slice(0, 3), [['size', '4096'], ['name', '"x"'], ['Result', '-1']]);
  assert.equal(map.get('End'), 'tail call: the next function took its frame over (inferred)');
  assert.equal(map.has('Wall clock'), false);
  assert.match(spanText(SPAN, facts, ['main', 'serve']), /^parse\nsize: +4096\nname: +"x"\nResult: +-1\nDuration: +2\.500 us .*\n\nmain\n {2}serve\n {4}parse\n$/s);
});

test('an ending of a newer server is shown as it is', () => {
  assert.equal(endingWords({ ...SPAN, ended: 'evaporated', endInferred: false }), 'evaporated');
});

test('a deep stack is folded in the middle', () => {
  assert.deepEqual(foldStack([1, 2, 3], 2, 1), { outer: [1, 2, 3], left: 0, inner: [] });
  assert.deepEqual(foldStack([1, 2, 3, 4, 5], 1, 2), { outer: [1], left: 2, inner: [4, 5] });
});

/** Calls of one group by the promises of DataSource.next. @param {Place[]} calls @returns {any} */
function callsOnly(calls) {
  /** @param {Place} a @param {Place} b */
  const compare = (a, b) => a.start - b.start || a.depth - b.depth || a.track - b.track;
  return {
    next: async (/** @type {number} */ _group, /** @type {null} */ _tracks, /** @type {Place} */ from, /** @type {string} */ direction) => {
      const index = direction === 'next' ? calls.findIndex((call) => compare(call, from) > 0) : calls.filter((call) => compare(call, from) < 0).length - 1;
      return { call: calls[index] ?? null, ordinal: index + 1, of: calls.length };
    },
  };
}

/** @param {number} start @param {number} depth @returns {Place} */
const call = (start, depth, track = 0) => ({ track, depth, start, end: start + 5 });

for (const [what, calls] of /** @type {[string, Place[]][]} */ ([
  ['a call at the very beginning', [call(0, 0)]],
  ['several at the beginning', [call(0, 0), call(0, 1), call(0, 1, 1), call(90, 0)]],
  ['none at the beginning', [call(10, 3), call(50, 0), call(100, 2)]],
])) {
  test(`walking on comes by all calls and begins again: ${what}`, async () => {
    const source = callsOnly(calls);
    for (const direction of /** @type {const} */ (['next', 'previous'])) {
      /** @type {Place | null} */
      let at = null;
      const seen = [];
      for (let i = 0; i <= calls.length; i++) {
        const step = /** @type {import('../../web/panels/walk.js').Step} */ (await stepToCall(source, 1, at, direction, null, 100));
        seen.push(step.ordinal);
        assert.equal(step.wrapped, i === calls.length);
        at = step.call;
      }
      const order = calls.map((_, index) => index + 1);
      if (direction === 'previous') order.reverse();
      assert.deepEqual(seen, [...order, order[0]]);
    }
  });
}

test('walking where there are no calls', async () => {
  assert.equal((await stepToCall(callsOnly([]), 1, null, 'next', null, 100)).call, null);
  assert.equal((await stepToCall(callsOnly([]), 1, call(5, 5), 'previous', null, 100)).call, null);
});

test('the zoom stays while the call can be seen in it', () => {
  const view = { from: 1000, to: 2000 };
  assert.deepEqual(viewThatShows(view, { ...call(0, 0), start: 1100, end: 1200 }), view);
  assert.deepEqual(viewThatShows(view, { ...call(0, 0), start: 5000, end: 5100 }), { from: 4550, to: 5550 });
  assert.equal(viewThatShows(view, { ...call(0, 0), start: 0, end: 5000 }), null);
  assert.equal(viewThatShows(view, { ...call(0, 0), start: 1500, end: 1501 }), null);
});

test('statistics are of the measured range as soon as there is one, and again of what was chosen before', () => {
  const state = new ViewState(1000);
  const choice = new RangeChoice(state);
  assert.deepEqual([choice.extent, choice.range()], ['whole', { from: 0, to: 1001 }]);
  state.setSelection({ from: 10, to: 20 }, [1]);
  assert.deepEqual([choice.extent, choice.range(), choice.tracks()], ['measured', { from: 10, to: 20 }, [1]]);
  choice.choose('view');
  assert.deepEqual([choice.extent, choice.range(), choice.tracks()], ['view', state.view, null]);
  choice.choose('measured');
  state.setSelection(null);
  assert.equal(choice.extent, 'view');
});

test('where a flag goes', () => {
  const state = new ViewState(1000);
  assert.equal(momentForFlag(state), 500);
  state.setSpan({ track: 0, depth: 0, start: 30, end: 40 });
  assert.equal(momentForFlag(state), 30);
  state.setCursor(77);
  assert.equal(momentForFlag(state), 77);
});

test('a name typed in full is the first match', () => {
  const functions = /** @type {any} */ ([{ name: 'task', group: 0, calls: 9 }, { name: 'ask', group: 1, calls: 2 }]);
  const [task, ask] = [{ group: 0, name: 'task', calls: 9 }, { group: 1, name: 'ask', calls: 2 }];
  assert.deepEqual(exactFirst([task, ask], functions, 'ask'), [ask, task]);
  assert.deepEqual(exactFirst([task], functions, 'ask'), [ask, task]);
  assert.deepEqual(exactFirst([task, ask], functions, 'as'), [task, ask]);
});

test('keys', () => {
  const plainKey = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  const key = (/** @type {string} */ name, more = {}) => commandOf({ key: name, ...plainKey, ...more });
  assert.equal(key('/'), 'search');
  assert.equal(key('f', { ctrlKey: true }), 'search');
  assert.equal(key('f'), null);
  assert.equal(key('N', { shiftKey: true }), 'previous');
  assert.equal(key('n', { ctrlKey: true }), null);
  assert.equal(key('m', { altKey: true }), null);
  assert.deepEqual(['ArrowUp', 'ArrowDown', 'Home', 'End', 'x'].map((name) => nextIndex(0, 3, name, 'ArrowUp', 'ArrowDown')), [0, 1, 0, 2, null]);
});

test('Perfetto is warned of what it cannot hold', () => {
  const info = /** @type {any} */ ({ spans: 11e6, tracks: [{ depth: 512 }] });
  assert.deepEqual(perfettoWarnings(info), []);
  assert.equal(perfettoWarnings({ ...info, spans: 11e6 + 1 }).length, 1);
  assert.equal(perfettoWarnings({ ...info, spans: 12e6, tracks: [{ depth: 513 }] }).length, 2);
});

test('a hit in words', () => {
  assert.equal(plain(hitWords({ track: 0, start: 1000, end: 2500, name: 'trigger', argument: '7', address: '0x10' })), 'trigger, argument 7, at 0x10, arrived after 1.500 us');
  assert.equal(hitWords({ track: 0, start: 5, end: 5, name: 'trigger', argument: null, address: null }), 'trigger');
});

test('the map of calls: time to the right, lengths upwards, every call is seen', () => {
  /** @type {import('../../web/data/source.js').CallCell[]} */
  const map = [[0, 1, 1, 0, 0, 5, 6], [9, 1024, 1000, 0, 0, 95, 1200]];
  const { cells, ticks } = layoutCallMap(map, 10, { from: 0, to: 100 }, 500, 100);
  assert.deepEqual(cells.map(({ x }) => Math.round(x)), [0, 450]);
  assert.equal(Math.round(cells[1].y), 0, 'the longest on top');
  assert.ok(cells[0].y > cells[1].y && cells[0].y + cells[0].height < 100.001);
  assert.ok(cells[1].weight > cells[0].weight && cells[0].weight > 0.3 && cells[1].weight <= 1);
  assert.deepEqual(cells[1].place, { track: 0, depth: 0, start: 95, end: 1200 });
  assert.deepEqual(ticks.map(({ ns }) => ns), [1, 10, 100, 1000]);
  assert.deepEqual([0, 3, 4, 6, 8, 1024].map(endOfBin), [1, 4, 5, 7, 10, 1280]);
  assert.deepEqual(layoutCallMap([], 1, { from: 0, to: 1 }, 500, 100), { cells: [], ticks: [] });
});

test('flame graph: upside down, callers and callees add up to the same time', () => {
  /** @param {number} group @param {number} self @param {import('../../web/data/source.js').FlameNode[]} children @returns {import('../../web/data/source.js').FlameNode} */
  const node = (group, self, ...children) => ({
    group, name: `f${group}`, calls: 1, self, omitted: 0, children, total: children.reduce((sum, { total }) => sum + total, self),
  });
  const root = { ...node(-1, 0, node(1, 5, node(2, 10, node(3, 1)), node(3, 4, node(2, 2))), node(2, 8)), name: 'all' };
  /** @param {import('../../web/data/source.js').FlameNode} at @returns {unknown} */
  const plain = ({ group, total, self, children }) => [group, total, self, ...children.map(plain)];
  assert.equal(flameView(root, 'stacks', 2), root);
  assert.deepEqual(plain(flameView(root, 'upside-down', null)), [-1, 30, 0,
    [2, 20, 8, [1, 10, 10], [3, 2, 0, [1, 2, 2]]],
    [1, 5, 5],
    [3, 5, 0, [1, 4, 4], [2, 1, 0, [1, 1, 1]]]]);
  assert.deepEqual(plain(flameView(root, 'callers', 2)), [-1, 21, 0, [2, 21, 8, [1, 11, 11], [3, 2, 0, [1, 2, 2]]]]);
  assert.deepEqual(plain(flameView(root, 'callees', 2)), [-1, 21, 0, [2, 21, 20, [3, 1, 1]]]);
  // Of a recursion the outermost call counts; very deep stacks do no harm.
  let deep = node(7, 1);
  for (let i = 0; i < 20000; i++) deep = { ...node(7, 0), children: [deep], total: 1 };
  const recursive = { ...node(-1, 0, deep) };
  assert.equal(flameView(recursive, 'callers', 7).total, 1);
  assert.equal(flameView(recursive, 'callees', 7).children[0].total, 1);
});
