// The page of the real server over a line of 1 Mbit/s, as the browser's developer tools make it: what is not loaded yet is seen to
// be so, the page can be used meanwhile, and in the end it shows what it shows without the limit.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { writeFxt } from './fxt.js';
import { openPage } from './page.js';
import { makeTrace } from './traces.js';
import { BINARY, viewTrace } from './viewer.js';

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;
const MEGABIT = 1_000_000 / 8; // bytes a second

/** @type {Awaited<ReturnType<typeof viewTrace>>} */
let viewer;

before(async () => {
  if (skip) return;
  viewer = await viewTrace(writeFxt(makeTrace({ spans: 200_000, threads: 6, depth: 40, duration: 40_000_000, seed: 5, from: 0 })));
});
after(async () => {
  if (!skip) await viewer.close();
});

/**
 * Runs in the page from its beginning: looks at each frame that the page has drawn, and keeps the first of each kind in `window.seen`:
 * whether the whole trace is shown or the view has moved, whether some, no or all tiles are here, and whether more are asked for.
 * Of each it keeps how many pixels of both pictures have the colour of dots, and how many colours the tracks' picture has.
 */
const WATCH = `(() => {
  window.seen = {};
  const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const pixelsOf = (canvas) => {
    Object.assign(copy.canvas, { width: canvas.width, height: canvas.height });
    copy.drawImage(canvas, 0, 0);
    return new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  };
  const look = () => {
    requestAnimationFrame(look);
    const viewer = window.magicTrace;
    if (!viewer || !viewer.timeline.isIdle) return;
    const { tiles, unloaded, missing } = viewer.timeline.facts;
    const { from, to } = viewer.state.view;
    const kind = [
      from === 0 && to === viewer.state.duration ? 'whole' : 'moved',
      unloaded === 0 ? 'here' : tiles === 0 ? 'not here' : 'partly here',
      missing === 0 ? 'settled' : 'waiting',
    ].join(', ');
    if (kind in window.seen) return;
    const colour = getComputedStyle(document.documentElement).getPropertyValue('--unloaded').trim();
    const [red, green, blue] = colour.match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
    const dot = (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    const dots = (pixels) => pixels.filter((pixel) => pixel === dot).length;
    const tracks = pixelsOf(document.querySelector('canvas.tracks'));
    window.seen[kind] = { dots: dots(tracks), colours: new Set(tracks).size, minimap: dots(pixelsOf(document.querySelector('canvas.minimap'))) };
  };
  requestAnimationFrame(look);
})()`;

const SETTLED = 'window.magicTrace?.timeline.facts.missing === 0 && magicTrace.timeline.facts.unloaded === 0 && magicTrace.timeline.isIdle';
const WHOLE = 'magicTrace.state.setView({ from: 0, to: magicTrace.state.duration })';

/** What the page shows of the whole trace, when all is loaded. @param {Awaited<ReturnType<typeof openPage>>} opened */
async function shown({ page, until, drawn }) {
  await page.evaluate(WHOLE);
  await drawn();
  await until(SETTLED);
  await drawn();
  return page.evaluate(`({
    tiles: magicTrace.timeline.drawn().map((tile) => Object.values(tile).join()).sort(),
    picture: document.querySelector('canvas.tracks').toDataURL(),
    text: document.body.innerText,
  })`);
}

test('over 1 Mbit/s what is not loaded yet looks so, the page is usable, and all comes in the end', { skip }, async () => {
  const slow = await openPage({ url: 'about:blank', width: 1300, height: 850, waits: false });
  const { page } = slow;
  const tools = await page.context().newCDPSession(page);
  await tools.send('Network.enable');
  await tools.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: MEGABIT, uploadThroughput: MEGABIT });
  await page.addInitScript(WATCH);
  await page.goto(viewer.url);
  await slow.until("Object.keys(window.seen).some((kind) => /^whole, (not|partly) here/.test(kind))");
  await slow.picture('slow-line-waiting');

  // Zooms in while data are missing: the view follows at once.
  const box = await page.locator('.overlay').boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + 40);
  do {
    await page.keyboard.press('w');
    await slow.until('magicTrace.state.view.to < magicTrace.state.duration');
    await slow.drawn(2);
  } while (!(await page.evaluate("Object.keys(window.seen).some((kind) => kind.startsWith('moved') && kind.endsWith('waiting'))")));
  await slow.picture('slow-line-zoomed');

  const inTheEnd = await shown(slow);
  await slow.picture('slow-line-loaded');
  const seen = await page.evaluate('window.seen');
  await slow.close();
  for (const [kind, { dots, colours, minimap }] of Object.entries(seen)) {
    // Hatched is what was not traced, at the right end, which is not always in view.
    if (kind.includes('not here')) assert.ok(colours <= 5, `${kind}: ${colours} colours: ground, heading, lines, hatching and dots, no span`);
    // What is partly here may lack but rows that are out of sight.
    if (!kind.includes('partly')) assert.equal(dots > 0, kind.includes('not here'), `${kind}: ${dots} pixels of dots`);
    if (kind.includes('not here') || kind.includes('settled'))
      assert.equal(minimap > 0, kind.includes('waiting'), `${kind}: ${minimap} pixels of dots in the minimap`);
  }

  const usual = await openPage({ url: viewer.url, width: 1300, height: 850 });
  const without = await shown(usual);
  await usual.close();
  assert.deepEqual(inTheEnd.tiles, without.tiles);
  assert.equal(inTheEnd.text, without.text);
  assert.ok(inTheEnd.picture === without.picture, 'the same picture');
});
