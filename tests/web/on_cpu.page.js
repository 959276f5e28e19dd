// Time on a processor beside all time: of a trace that says when threads were not running.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EmbeddedSource } from '../../web/data/embedded.js';
import { openPage } from './page.js';
import { makeTrace, withPauses } from './traces.js';

const trace = withPauses(makeTrace());
const source = new EmbeddedSource(trace);
const WHOLE = { from: 0, to: trace.duration + 1 };

/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

before(async () => {
  opened = await openPage({ trace });
  page = opened.page;
});
after(() => opened.close());

/** @param {string} selector @returns {Promise<string>} */
const text = async (selector) => (await page.locator(selector).innerText()).replaceAll('\u00a0', ' ');
/** @param {string} change of "state" */
const change = (change) => page.evaluate(`(({ state }) => ${change})(window.magicTrace)`);

test('the table leaves waiting out, a switch shows it, and the link says so', async () => {
  await change("state.setPanel('functions')");
  await page.locator('.panel-functions tbody tr').first().waitFor();
  const table = page.locator('.panel-functions');
  const { time, offCpu } = await source.table(WHOLE, null, 10, 'self');
  assert.ok(offCpu > 0 && offCpu < time);
  assert.match(await text('.panel-functions [role=status]'), /without the [\d.]+ % in which threads were not running/);
  assert.equal(await table.getByRole('button', { name: '[not running]' }).count(), 0);
  await table.getByRole('button', { name: 'On CPU' }).click();
  await page.locator('th[aria-sort=descending]', { hasText: 'On CPU' }).waitFor();
  assert.match(await text('.panel-functions tbody tr:first-child'), /^main/);
  await opened.picture('on-cpu-functions');
  await table.getByLabel('Time').selectOption({ label: 'all' });
  await table.getByRole('button', { name: '[not running]' }).waitFor();
  await opened.until("location.hash.includes('time=wall')");
  await table.getByLabel('Time').selectOption({ label: 'on-CPU' });
  await opened.until("!location.hash.includes('time=wall')");
});

test('the flame graph adds up the same time', async () => {
  const [cpu, wall] = await Promise.all(/** @type {const} */ (['cpu', 'wall']).map((time) => source.flame(WHOLE, null, 0, time)));
  const { time, offCpu } = await source.table(WHOLE, null, 10, 'self');
  assert.deepEqual([cpu.total, wall.total], [time - offCpu, time]);
  await change("state.setPanel('flame')");
  const canvas = page.locator('.panel-flame canvas');
  await canvas.focus();
  const words = () => text('.panel-flame .flame-status');
  await opened.until("document.querySelector('.panel-flame [role=status]') !== null");
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await opened.until("document.querySelector('.flame-status').textContent.includes('on-CPU')");
  const before = await words();
  await opened.picture('on-cpu-flame');
  await page.locator('.panel-flame').getByLabel('Time').selectOption({ label: 'all' });
  await canvas.focus();
  await opened.until(`(() => {
    document.querySelector('.panel-flame canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true }));
    return !document.querySelector('.flame-status').textContent.includes('on-CPU');
  })()`);
  assert.notEqual(await words(), before);
  await change("state.setTime('cpu')");
});

test('calls, and a single one', async () => {
  await change("state.setSearch({ text: 'main', group: 0 })");
  await change("state.setPanel('calls')");
  await page.locator('.panel-calls .slowest button').first().waitFor();
  assert.match(await text('.panel-calls .figures'), /Of that on-CPU/);
  assert.match(await text('.panel-calls .slowest li:first-child'), /on-CPU/);
  await opened.picture('on-cpu-calls');
  await page.getByLabel('Calls are listed by').selectOption({ label: 'by time on a processor' });
  await opened.until("location.hash.includes('calls=onCpu')");
  const { slowest } = await source.calls(0, WHOLE, null, { slowest: 50, by: 'onCpu' });
  const onCpu = slowest.map(({ start, end, offCpu }) => end - start - offCpu);
  assert.deepEqual(onCpu, [...onCpu].sort((a, b) => b - a));
  const waits = slowest.findIndex(({ offCpu }) => offCpu > 0);
  await page.locator('.panel-calls .slowest button').nth(waits).click();
  await change("state.setPanel('details')");
  await opened.until("document.querySelector('.panel-details dl')?.textContent.includes('its thread was not running for')");
  await opened.picture('on-cpu-span');
});
