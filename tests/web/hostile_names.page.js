// Names come from the traced program, which may be hostile: what would be markup, script or a terminal's escape sequence is shown
// as text, by every panel, of the real server and of an exported page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { writeFxt } from './fxt.js';
import { openPage } from './page.js';
import { makeTrace } from './traces.js';
import { BINARY, viewTrace } from './viewer.js';

const HOSTILE = '"\'><img src=x onerror="window.taken=1"></script><script>window.taken=1</script>';
const ESCAPES = '\u001b[31m\u202e${window.taken=1}';
const PANELS = ['details', 'calls', 'functions', 'flame', 'source', 'marks', 'flags', 'compare'];

function hostileTrace() {
  const trace = makeTrace({ spans: 2000, threads: 2 });
  trace.functions = trace.functions.map(([name, ...rest], i) => [i === 1 ? HOSTILE : i === 2 ? ESCAPES : name, ...rest]);
  trace.tracks = trace.tracks.map((track) => ({ ...track, process: HOSTILE, thread: `${ESCAPES}${HOSTILE}` }));
  return writeFxt(trace);
}

/** @param {Awaited<ReturnType<typeof openPage>>} opened */
async function walk({ page, until, drawn, picture }) {
  await until('window.magicTrace.timeline.facts.missing === 0 && window.magicTrace.timeline.isIdle');
  await page.evaluate(`(async () => {
    const { state, source, timeline } = window.magicTrace;
    const functions = await source.functions();
    const hostile = functions.findIndex(({ name }) => name.includes('onerror'));
    const { track, depth, start, end } = timeline.drawn().find((tile) => tile.function === hostile && tile.spans === 1) ?? timeline.drawn()[0];
    state.setSpan({ track, depth, start, end });
    state.setFlags([{ time: 2e6, text: ${JSON.stringify(HOSTILE)} }]);
  })()`);
  await page.getByRole('combobox', { name: 'Search functions' }).fill('onerror');
  await until("document.querySelector('#search-matches li') !== null");
  const found = await page.locator('#search-matches').innerText();
  await page.keyboard.press('Enter');
  const box = await page.locator('.overlay').boundingBox();
  for (const panel of PANELS) {
    await page.evaluate(`window.magicTrace.state.setPanel('${panel}')`);
    await page.mouse.move(box.x + box.width / 2, box.y + 60 + PANELS.indexOf(panel));
    await drawn();
    await picture(`hostile-${panel}`);
  }
  const left = await page.evaluate(`({
    taken: window.taken ?? null,
    images: [...document.querySelectorAll('img, #page script, #page iframe')].map((element) => element.outerHTML),
    raw: document.body.innerText.includes('\\u001b'),
  })`);
  assert.deepEqual(left, { taken: null, images: [], raw: false });
  assert.ok(found.includes('<img src=x'), `shown as text: ${found}`);
}

/** @param {string} url */
async function check(url) {
  const opened = await openPage({ url });
  try {
    await walk(opened);
  } finally {
    await opened.close();
  }
}

const skip = BINARY === null && 'no program given: tests/web/run --binary';

test('of the server', { skip }, async () => {
  const viewer = await viewTrace(hostileTrace());
  try {
    await check(viewer.url);
  } finally {
    await viewer.close();
  }
});

test('of an exported page', { skip }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  const [trace, page] = ['trace.fxt', 'page.html'].map((name) => path.join(folder, name));
  try {
    writeFileSync(trace, hostileTrace());
    execFileSync(String(BINARY), ['export', '-format', 'html', '-output', page, trace], { stdio: 'pipe' });
    await check(pathToFileURL(page).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
