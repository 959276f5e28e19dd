// Two traces on the page: `magic-trace view A B`, of two builds of a program of which the test knows what changed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openPage } from './page.js';
import { BINARY, viewTrace } from './viewer.js';

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;
const PROGRAM = fileURLToPath(new URL('../programs/changes.c', import.meta.url));

/** @type {string} */
let folder;
/** @type {Awaited<ReturnType<typeof viewTrace>>} */
let viewer;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

/** @param {string} expression of "state" @returns {Promise<any>} */
const state = (expression) => page.evaluate(`(({ state }) => ${expression})(window.magicTrace)`);

/** Both builds have one path. @param {number} change @returns {string} path of the trace */
function recordBuild(change) {
  const program = path.join(folder, 'database');
  const trace = path.join(folder, `${change === 0 ? 'before' : 'after'}.fxt`);
  execFileSync('cc', ['-g', '-O1', '-fno-inline', `-DCHANGE=${change}`, '-o', program, PROGRAM]);
  execFileSync(/** @type {string} */ (BINARY), ['run', '-full-execution', '-clock', 'instructions', '-o', trace, program], { stdio: 'pipe' });
  return trace;
}

before(async () => {
  if (skip) return;
  folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  const first = recordBuild(0);
  viewer = await viewTrace(readFileSync(recordBuild(4)), [first]);
  opened = await openPage({ url: viewer.url });
  page = opened.page;
});
after(async () => {
  if (skip) return;
  await opened.close();
  await viewer.close();
  rmSync(folder, { recursive: true });
});

test('the page of B says at once what differs from A', { skip }, async () => {
  await page.locator('.trees tbody tr').first().waitFor();
  await page.waitForURL(/\/b\/#/); // the URL follows a while after the state
  assert.match(await page.title(), /^B: trace\.fxt/);
  assert.equal(await state('state.panel'), 'compare');
  assert.match(await page.locator('.panel-compare .bar').first().innerText(), /all of before\.fxt.*all of trace\.fxt/s);
  assert.match(await page.locator('.comparison-words li').first().innerText(), /^\+[\d.]+\s\S+ audit: only in B, 600 calls, /);
  await page.locator('.comparison-words').getByText('They part after').waitFor();
  const words = (await page.locator('.comparison-words').innerText()).replaceAll('\u00a0', ' ');
  assert.match(words, /They part after \d+ calls that both make in the same order:\s+A: load \(changes\.c:\d+\) calls pack_row .*\s+B: load \(changes\.c:\d+\) calls audit /);
  const { a, b, causes, nodes } = await page.evaluate('(({ source, state: { compared } }) => source.compare(compared.a, compared.b))(window.magicTrace)');
  assert.equal(causes.reduce((/** @type {number} */ sum, /** @type {any} */ cause) => sum + cause.difference, 0), b.time - a.time);
  assert.equal(nodes[0][7] - nodes[0][4], b.time - a.time);
  await opened.picture('compared');
  await page.evaluate("window.magicTrace.state.setTheme('dark')");
  await opened.picture('compared-dark');
  await page.evaluate("window.magicTrace.state.setTheme('system')");
});

test('causes and calls lead to their places, by the keyboard, in the trace that has them', { skip }, async () => {
  await page.locator('.comparison-words .causes').first().locator('button, a').first().focus();
  await page.keyboard.press('Enter');
  await opened.until('window.magicTrace.state.span !== null');
  const { track, start, depth } = await state('state.span');
  const named = await page.evaluate(`window.magicTrace.source.span(${track}, ${depth}, ${start}).then(({ span }) => span.name)`);
  assert.equal(named, 'audit');
  await page.locator('.comparison-words a').filter({ hasText: 'A: load' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/a\/#/);
  await opened.until("window.magicTrace?.state.span !== null && document.title.startsWith('A: before.fxt')");
  const there = await state('state.span');
  const called = await page.evaluate(`window.magicTrace.source.span(${there.track}, ${there.depth}, ${there.start}).then(({ span }) => span.name)`);
  assert.equal(called, 'pack_row');
  await page.locator('.trees tbody tr').first().waitFor();
});

test('the page of A names the functions that B alone has; its calls are compared with those of B', { skip }, async () => {
  assert.ok((await page.locator('.trees tbody').innerText()).includes('audit'));
  await page.locator('.difference canvas').focus();
  for (let level = 0; level < 6; level++) await page.keyboard.press('ArrowDown');
  const reached = await page.locator('.difference [role=status]').innerText();
  assert.match(reached, /^\S+: A .*, B /);
  await page.getByRole('button', { name: 'Set B' }).click();
  await page.getByText('A call is compared with a call').waitFor();
  await page.getByRole('button', { name: 'Set A' }).click();
  await page.locator('.comparison-words').getByText(': 0 ns').waitFor();
  await page.locator('.comparison-words').getByText(/Both make the same \d+ calls? in the same order\./).waitFor();
  await page.getByRole('button', { name: 'Whole traces' }).click();
  await page.locator('.comparison-words li').filter({ hasText: 'audit: only in B' }).waitFor();
  await page.getByRole('link', { name: 'Time line of trace.fxt' }).click();
  await page.waitForURL(/\/b\/#/);
  await opened.until("document.title.startsWith('B: trace.fxt')");
  await page.locator('.comparison-words li').filter({ hasText: 'audit: only in B' }).waitFor();
});
