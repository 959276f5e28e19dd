import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLayout } from '../../web/timeline/layout.js';
import { wider, halves, firstTileFrom, makeTileRows, resolutionFor, rangeKey, timeOf, rangesOf, RANGE_BINS, RANGE_ROWS } from '../../web/timeline/request_range.js';
import { planRequests } from '../../web/timeline/request_plan.js';
import { TileStore } from '../../web/timeline/tile_store.js';
import { arrangement } from './arrangement.js';

/** @typedef {import('../../web/timeline/request_range.js').RequestRange} RequestRange */

/** @param {number[][]} rows start, end, depth */
function tiles(rows) {
  const column = (/** @type {number} */ i) => rows.map((row) => row[i]);
  return {
    more: false, start: Float64Array.from(column(0)), end: Float64Array.from(column(1)), depth: Uint32Array.from(column(2)),
    function: new Uint32Array(rows.length), spans: new Uint32Array(rows.length).fill(1), flags: new Uint32Array(rows.length),
  };
}

/** @param {number} index @param {number} [resolution] @returns {RequestRange} */
const request = (index, resolution = 1) => ({ track: 0, resolution, index, block: 0 });

test('the resolution is the power of two that is not above a pixel', () => {
  for (const [nsPerPixel, want] of [[0.01, 1], [1, 1], [1.99, 1], [2, 2], [1000, 512], [1e9, 2 ** 29]]) assert.equal(resolutionFor(nsPerPixel), want);
});

test('a request range lies in the one at twice the resolution and is made of two at half of it', () => {
  const range = request(5, 8);
  const time = timeOf(range);
  const around = timeOf(wider(range));
  assert.ok(around.from <= time.from && around.to >= time.to);
  const [first, second] = halves(range).map(timeOf);
  assert.deepEqual([first.from, first.to, second.to], [time.from, second.from, time.to]);
});

test('the request ranges of a range end where the trace does', () => {
  assert.deepEqual(rangesOf({ from: 0, to: 10 * RANGE_BINS }, 1, 3 * RANGE_BINS + 5), { first: 0, last: 3 });
  assert.deepEqual(rangesOf({ from: RANGE_BINS, to: 2 * RANGE_BINS }, 1, 1e9), { first: 1, last: 1 });
  assert.deepEqual(rangesOf({ from: -50, to: 1 }, 1, 1e9), { first: 0, last: 0 });
});

test('tiles are arranged by rows, and found by time', () => {
  const tileRows = makeTileRows({ ...request(0), block: 1 }, tiles([[0, 9, 32], [1, 2, 33], [4, 4, 33], [5, 8, 33], [0, 9, 5]]));
  assert.equal(tileRows.count, 4);
  assert.deepEqual([...tileRows.rowStart.slice(0, 4)], [0, 1, 4, 4]);
  assert.deepEqual([...tileRows.start], [0, 1, 4, 5]);
  assert.deepEqual([0, 2, 3, 4, 5, 9].map((time) => firstTileFrom(tileRows, 1, time)), [1, 1, 2, 2, 3, 4]);
});

/** A source whose answers come when the test says so. */
function slowSource() {
  /** @type {{range: {from: number}, resolution: number, answer: (rows: number[][]) => Promise<void>, fail: (error: Error) => Promise<void>, aborted: () => boolean}[]} */
  const asked = [];
  const settle = async () => {
    for (let i = 0; i < 5; i++) await null;
  };
  const source = /** @type {any} */ ({
    tiles: (/** @type {number} */ _track, /** @type {any} */ range, /** @type {number} */ resolution, /** @type {number} */ _depth, /** @type {number} */ _rows, /** @type {AbortSignal} */ signal) =>
      new Promise((resolve, reject) => {
        asked.push({
          range, resolution, aborted: () => signal.aborted,
          answer: async (rows) => (resolve(tiles(rows)), settle()),
          fail: async (error) => (reject(error), settle()),
        });
      }),
  });
  return { source, asked };
}

/** @param {{mostBytes?: number, now?: () => number}} [options] */
function makeStore(options) {
  const { source, asked } = slowSource();
  const handled = { arrivals: 0, failures: 0 };
  const store = new TileStore(source, 1e6, { arrived: () => handled.arrivals++, failed: () => handled.failures++ }, options);
  return { store, asked, handled };
}

test('six requests at once, the urgent ones first; the next when one is answered', async () => {
  const { store, asked, handled } = makeStore();
  store.want(Array.from({ length: 8 }, (_, i) => request(i)), [request(20)]);
  assert.equal(asked.length, 6);
  assert.equal(store.missing, 9);
  await asked[0].answer([]);
  assert.equal(asked.length, 7);
  assert.equal(handled.arrivals, 1);
  assert.ok(store.get(request(0)));
  assert.equal(store.get(request(1)), null);
});

test('what is no longer wanted is aborted, and its answer forgotten', async () => {
  const { store, asked } = makeStore();
  store.want([request(0), request(1)], []);
  store.want([request(1)], []);
  assert.deepEqual(asked.map(({ aborted }) => aborted()), [true, false]);
  await asked[0].answer([[0, 1, 0]]);
  assert.equal(store.get(request(0)), null);
  await asked[1].answer([[0, 1, 0]]);
  assert.equal(store.get(request(1))?.count, 1);
  assert.equal(asked.length, 2, 'nothing is asked twice');
});

test('the tiles used longest ago are dropped', async () => {
  const { store, asked } = makeStore({ mostBytes: 2000 });
  for (let i = 0; i < 4; i++) {
    store.want([request(i)], []);
    await asked[i].answer([]);
    store.get(request(0));
  }
  assert.ok(store.bytes <= 2000);
  assert.ok(store.get(request(0)) && store.get(request(3)));
  assert.equal(store.get(request(1)), null);
});

test('until tiles are here, those of a wider range are shown, else those of its halves', async () => {
  const { store, asked } = makeStore();
  assert.deepEqual(store.standIns(request(8, 2)), []);
  store.want([request(16), request(17)], []);
  await asked[0].answer([]);
  await asked[1].answer([]);
  assert.deepEqual(store.standIns(request(8, 2)).map(rangeKey), ['0/1/16/0', '0/1/17/0']);
  store.want([request(2, 8)], []);
  await asked[2].answer([]);
  assert.deepEqual(store.standIns(request(8, 2)).map(rangeKey), ['0/8/2/0']);
});

test('a request that failed is sent again later, not at once', async () => {
  let now = 0;
  const { store, asked, handled } = makeStore({ now: () => now });
  store.want([request(0)], []);
  await asked[0].fail(new Error('busy'));
  assert.equal(handled.failures, 1);
  store.want([request(0)], []);
  assert.equal(asked.length, 1);
  now = 4000;
  store.want([request(0)], []);
  assert.equal(asked.length, 2);
});

/** @param {number} tracks @param {number} depth */
function tallLayout(tracks, depth) {
  const info = /** @type {any} */ ({
    counters: [],
    tracks: Array.from({ length: tracks }, (_, id) => ({ id, pid: 1, tid: id, process: 'p', thread: 't', spans: 10, depth, first: 0, last: 1e6, kind: 'thread' })),
  });
  return makeLayout(info, arrangement());
}

test('only what is seen is asked for, of many tracks and of deep ones', () => {
  for (const [tracks, depth, most] of [[3000, 20, 60], [2, 100000, 20]]) {
    const layout = tallLayout(tracks, depth);
    const top = layout.height / 3;
    const items = layout.items.filter((item) => item.top + item.height > top && item.top < top + 900);
    const { seen, soon } = planRequests(items, { view: { from: 0, to: 1e6 }, pixels: 1400, top, bottom: top + 900, duration: 1e6 });
    assert.ok(seen.length > 0 && seen.length <= most, `${seen.length}`);
    assert.ok(soon.length <= 4 * most);
    assert.ok(seen.every(({ block }) => block * RANGE_ROWS < depth));
    assert.equal(new Set(seen.map(rangeKey)).size, seen.length);
  }
});

test('the middle of the view is asked for first', () => {
  const { items } = tallLayout(1, 5);
  const { seen } = planRequests(items, { view: { from: 0, to: 9 * RANGE_BINS }, pixels: 9 * RANGE_BINS, top: 0, bottom: 900, duration: 1e6 });
  assert.equal(seen[0].index, 4);
});
