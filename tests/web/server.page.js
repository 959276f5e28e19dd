// The page of the real server, in a browser: what is drawn is what the trace holds, and what happens when the server ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EmbeddedSource } from '../../web/data/embedded.js';
import { writeFxt } from './fxt.js';
import { openPage } from './page.js';
import { makeTrace, randomNumbers } from './traces.js';
import { BINARY, viewTrace } from './viewer.js';

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;
const VIEWS = 40;

/** @type {Awaited<ReturnType<typeof viewTrace>>} */
let viewer;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {EmbeddedSource} */
let own;
let ended = false;

before(async () => {
  if (skip) return;
  const trace = makeTrace({ spans: 9000, threads: 3, duration: 4_000_000, seed: 11, from: 0, inferred: 0 });
  own = new EmbeddedSource({ ...trace, tracks: trace.tracks.filter(({ kind }) => kind === 'thread'), marks: [], hits: [], counters: [] });
  viewer = await viewTrace(writeFxt(trace));
  opened = await openPage({ url: viewer.url, width: 1300, height: 850 });
});
after(async () => {
  if (skip) return;
  if (!ended) await viewer.close();
  // That the browser cannot reach the server is what the last test is about.
  opened.complaints.splice(0, Infinity, ...opened.complaints.filter((words) => !/ERR_CONNECTION/.test(words)));
  await opened.close();
});

const settled = () => opened.until('window.magicTrace.timeline.facts.missing === 0 && window.magicTrace.timeline.isIdle');

test('what is drawn is what the trace holds', { skip }, async () => {
  const { page } = opened;
  const random = randomNumbers(2);
  const { duration, tracks } = await own.trace();
  await page.evaluate('magicTrace.state.setPanel(null)');
  const names = (await own.functions()).map(({ name }) => name);
  for (let view = 0; view < VIEWS; view++) {
    const width = Math.max(20, Math.ceil(duration ** random()));
    const from = Math.floor(random() * (duration - width));
    const range = { from, to: from + width };
    await page.evaluate(`magicTrace.state.setView(${JSON.stringify(range)})`);
    await settled();
    const seen = await page.evaluate(`(async () => {
      const { timeline, state } = magicTrace;
      const pixels = document.querySelector('canvas.tracks').width;
      return { tiles: timeline.drawn(), resolution: 2 ** Math.max(0, Math.floor(Math.log2((state.view.to - state.view.from) / pixels))) };
    })()`);
    const functions = await page.evaluate("fetch('api/functions').then((answer) => answer.json())");
    const drawn = new Set(seen.tiles.map((/** @type {any} */ { track, depth, start, end, spans, function: fn }) => [track, depth, start, end, spans, functions.functions[fn][0]].join()));
    const deepest = Math.max(...seen.tiles.filter(({ track }) => track === 0).map(({ depth }) => depth), 0);
    const { start, end, depth, spans, function: fn } = await own.tiles(0, range, seen.resolution, 0, Math.max(deepest, tracks[0].depth));
    for (let i = 0; i < start.length; i++) assert.ok(drawn.has([0, depth[i], start[i], end[i], spans[i], names[fn[i]]].join()), `span at ${start[i]} in ${JSON.stringify(range)}`);
    const inView = seen.tiles.filter((/** @type {any} */ tile) => tile.track === 0 && tile.start < range.to && (tile.end > from || tile.start >= from));
    assert.equal(inView.length, start.length, 'nothing else is drawn');
  }
});

test('what is not loaded yet does not look as if nothing had run', { skip }, async () => {
  const slow = await openPage({ url: 'about:blank', width: 1300, height: 850, waits: false });
  const { page } = slow;
  /** @type {(() => void)[]} */
  const held = [];
  let holds = true;
  await page.route('**/api/tiles*', async (/** @type {any} */ route) => {
    if (holds) await new Promise((/** @type {(value: void) => void} */ resolve) => held.push(resolve));
    await route.continue();
  });
  await page.goto(opened.page.url().replace(/#.*/, ''));
  await slow.until('window.magicTrace?.timeline.facts.unloaded > 0');
  const colours = () => page.evaluate(`(() => {
    const canvas = document.querySelector('canvas.tracks');
    const { data } = canvas.getContext('2d').getImageData(0, 30, canvas.width, 60);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);
  assert.equal(await colours(), 3, 'ground, lines and dots: no span, and not the ground alone');
  await slow.picture('timeline-loading');
  holds = false;
  for (const release of held) release();
  await slow.until('window.magicTrace.timeline.facts.unloaded === 0');
  assert.ok((await page.evaluate('magicTrace.timeline.facts.tiles')) > 0);
  await slow.close();
});

test('a server that has ended is reported in words, and what was seen stays', { skip }, async () => {
  const { page } = opened;
  await page.evaluate('magicTrace.state.setView({ from: 0, to: magicTrace.state.duration })');
  await settled();
  await viewer.close();
  ended = true;
  await page.evaluate('magicTrace.state.setView({ from: 1234567, to: 1234667 })');
  await page.locator('.trouble').waitFor();
  assert.match(await page.locator('.trouble').innerText(), /server does not answer/);
  assert.ok((await page.evaluate('magicTrace.timeline.drawn().length')) > 0);
});
