// The viewer's page in a headless browser, measured; bench/view runs it. Prints one JSON object.
//
//     node view_page.mjs viewer URL       first paint, frames while panning and zooming, the tab's memory
//     node view_page.mjs speedscope DIR FILE   the same file of spans in speedscope (DIR: its dist/release), for comparison
//
// Times are ms. Memory is what the tab's process holds beyond that of an empty tab, in bytes.

import { createServer } from 'node:http';
import { readFileSync, createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const BROWSER = process.env.MAGIC_TRACE_BROWSER ?? '/usr/bin/chromium-headless-shell';
const SECONDS = 4; // of each movement
const PATIENCE = 240_000;

const require = createRequire(path.join(process.env.MAGIC_TRACE_NPM ?? process.cwd(), 'package.json'));
const { chromium } = require('playwright-core');

/** Resident bytes of the renderer that shows `page`, by its process's own count of private pages. */
function privateBytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return ['Private_Clean', 'Private_Dirty'].reduce((sum, key) => sum + 1024 * Number(new RegExp(`${key}: +(\\d+)`).exec(rollup)?.[1]), 0);
}

async function rendererBytes(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').reduce((most, { id }) => Math.max(most, privateBytes(id)), 0);
}

/** Calls `step` in each frame for some seconds; frames per second, and the longest frame in ms. */
const move = (page, step) =>
  page.evaluate(
    `new Promise((resolve) => {
      const { state, timeline } = window.magicTrace;
      const step = ${step};
      const began = performance.now(), drawnBefore = timeline.facts.frames;
      let last = began, longest = 0;
      const frame = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (now - began > ${SECONDS * 1000})
          return resolve({ rate: (timeline.facts.frames - drawnBefore) / ((now - began) / 1000), longest });
        step(state, (now - began) / ${SECONDS * 1000});
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    })`,
  );

async function measureViewer(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  const began = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  while (!(await page.evaluate('window.magicTrace !== undefined && window.magicTrace.timeline.facts.tiles > 0').catch(() => false)));
  const firstPaint = performance.now() - began;
  const duration = await page.evaluate('window.magicTrace.info.duration');
  await page.waitForTimeout(500);
  const result = { firstPaint, movements: {}, duration };
  for (const [name, width] of [['50 %', 0.5], ['1 %', 0.01], ['0.01 %', 1e-4]]) {
    const range = duration * width;
    await page.evaluate(`window.magicTrace.state.setView({ from: ${duration / 4}, to: ${duration / 4 + range} })`);
    await page.waitForTimeout(300);
    // Five screens to the right, if there are as many.
    const distance = Math.min(5 * range, duration * 0.75 - range);
    result.movements[`pan, ${name}`] = await move(page, `(state, share) => { const from = ${duration / 4} + share * ${distance};
      state.setView({ from, to: from + ${range} }); }`);
  }
  result.movements.zoom = await move(page, `(state, share) => { const width = ${duration} * Math.pow(1000 / ${duration}, share);
    state.setView({ from: ${duration} * 0.4 - 0.4 * width, to: ${duration} * 0.4 + 0.6 * width }); }`);
  result.memory = await rendererBytes(browser);
  result.facts = await page.evaluate('window.magicTrace.timeline.facts');
  return result;
}

/** speedscope has no sign of being done; it has drawn when its canvas is there and the loading words are gone. */
async function measureSpeedscope(browser, folder, file) {
  const server = createServer((request, answer) => {
    const name = decodeURIComponent((request.url ?? '/').split('?')[0]);
    const found = name === '/trace' ? file : path.join(folder, name === '/' ? 'index.html' : path.normalize(name));
    const type = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }[path.extname(found)] ?? 'application/octet-stream';
    answer.writeHead(200, { 'Content-Type': type });
    createReadStream(found).on('error', () => answer.end()).pipe(answer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const page = await (await browser.newContext({ viewport: { width: 1600, height: 1000 } })).newPage();
  const origin = `http://127.0.0.1:${server.address().port}`;
  let died = false;
  page.on('crash', () => (died = true));
  const began = performance.now();
  await page.goto(`${origin}/#profileURL=${encodeURIComponent(`${origin}/trace`)}`, { waitUntil: 'commit' });
  let shown = false;
  while (!shown && !died && performance.now() - began < PATIENCE) {
    shown = await page.evaluate('document.querySelector("canvas") !== null && document.body.innerText.includes("Time Order")').catch(() => false);
    await page.waitForTimeout(20).catch(() => {});
  }
  const result = { firstPaint: shown ? performance.now() - began : null, died, memory: shown ? await rendererBytes(browser) : null };
  server.close();
  return result;
}

const [kind, ...rest] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
const empty = await browser.newPage();
await empty.goto('about:blank');
const before = await rendererBytes(browser);
await empty.close();
const result = kind === 'viewer' ? await measureViewer(browser, rest[0]) : await measureSpeedscope(browser, rest[0], rest[1]);
console.log(JSON.stringify({ ...result, emptyTab: before }));
await browser.close();
process.exit(0);
