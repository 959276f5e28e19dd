// The source panel of a recording: how often each line ran, which way branches went, and calls that lead on; of the whole, one
// call, and a trace, of which that is not known.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage } from './page.js';
import { recordCounted, recordProgram } from './recorded.js';
import { BINARY, viewPath, viewTrace } from './viewer.js';

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;
const NUMBERS = [6, 27]; // of which the program counts the steps to 1

/** @type {ReturnType<typeof recordCounted>} */
let recorded;
/** @type {Awaited<ReturnType<typeof viewPath>>} */
let viewer;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

before(async () => {
  if (skip) return;
  recorded = recordCounted();
  viewer = await viewPath(recorded.recording);
  opened = await openPage({ url: viewer.url });
  page = opened.page;
});
after(async () => {
  if (skip) return;
  await opened.close();
  await viewer.close();
  recorded.close();
});

/** Of these numbers: steps to 1, of them from odd ones, from even ones. @param {number[]} numbers */
function stepsOf(numbers) {
  let [odd, even] = [0, 0];
  for (let number of numbers)
    while (number > 1)
      if (number % 2) {
        number = 3 * number + 1;
        odd++;
      } else {
        number /= 2;
        even++;
      }
  return { all: odd + even, odd, even };
}

/** @param {string} code of a line of the program */
const lineOf = (code) => page.locator('.source-text li').nth(recorded.source.split('\n').findIndex((line) => line.includes(code)));
/** @param {string} code @returns {Promise<string>} */
const runsOf = (code) => lineOf(code).locator('.runs').textContent();
/** @param {string} code @returns {Promise<string[]>} */
const notesOf = async (code) => (await lineOf(code).locator('.notes > *').allTextContents()).map((/** @type {string} */ text) => text.replaceAll('\u00a0', ' '));

/** Chooses a call. @param {string} name @param {number} ordinal @param {any} [of] another page */
const choose = (name, ordinal, of = page) => of.evaluate(`(async ({ state, source }) => {
  const { matches } = await source.find(${JSON.stringify(name)}, 'text', 10);
  const { group } = matches.find(({ name }) => name === ${JSON.stringify(name)});
  let place = { track: 0, depth: 0, start: 0, end: 0 };
  for (let i = 0; i < ${ordinal}; i++) ({ call: place } = await source.next(group, null, place, 'next', null));
  state.setSpan(place);
  state.setPanel('source');
})(window.magicTrace)`);

test('how often lines ran, in the whole trace', { skip }, async () => {
  const { all, odd, even } = stepsOf(NUMBERS);
  await choose('steps', 1);
  await opened.until(`document.querySelector('.source-text.counted') !== null`);
  assert.equal(await runsOf('int count = 0;'), '2');
  assert.equal(await runsOf('count++'), String(all));
  assert.equal(await runsOf('return i / 2'), String(even));
  assert.equal(await runsOf('return -1'), '0');
  assert.match(await lineOf('return -1').getAttribute('class'), /never/);
  const [branch] = await notesOf('if (i < 0)');
  assert.match(branch, new RegExp(`(never|always) jumps \\(${all}\\)`));
  assert.match(await lineOf('if (i < 0)').locator('.branch').getAttribute('class'), /one-way/);
  const notes = await notesOf('odd(i) : even(i)');
  assert.ok(notes.some((note) => note.includes(` of ${all}`)), String(notes));
  assert.deepEqual(notes.filter((note) => note.startsWith('→')), [`→ even ×${even}`, `→ odd ×${odd}`]);
  const heats = await Promise.all(['count++', 'int count = 0;', 'return -1'].map((code) => lineOf(code).evaluate((/** @type {HTMLElement} */ line) => Number(line.style.getPropertyValue('--heat')))));
  assert.ok(heats[0] > heats[1] && heats[1] > heats[2] && heats[2] === 0, String(heats));
});

test('of one call', { skip }, async () => {
  for (const [index, number] of NUMBERS.entries()) {
    await choose('steps', index + 1);
    await page.locator('.panel-source select').selectOption('span');
    await opened.until(`document.querySelectorAll('.source-text li')[${recorded.source.split('\n').findIndex((line) => line.includes('count++'))}].querySelector('.runs').textContent === '${stepsOf([number]).all}'`);
    assert.equal(await runsOf('int count = 0;'), '1');
    assert.equal(await runsOf('sum += steps(6)'), '0');
  }
  await page.locator('.panel-source select').selectOption('whole');
});

test('a call leads to its calls', { skip }, async () => {
  await choose('steps', 1);
  await opened.until(`document.querySelector('.source-text.counted') !== null`);
  await page.getByRole('button', { name: /^→ odd ×/ }).click();
  await page.locator('.panel-calls').getByText('odd').first().waitFor();
  assert.equal(await page.evaluate('window.magicTrace.state.panel'), 'calls');
  assert.equal(await page.evaluate('window.magicTrace.state.search.text'), 'odd');
});

test('in both themes', { skip }, async () => {
  await choose('steps', 1);
  for (const theme of ['light', 'dark']) {
    await page.getByLabel('Theme').selectOption(theme);
    await opened.until(`document.querySelector('.source-text.counted') !== null`);
    await opened.drawn();
    await opened.picture(`source-heat-${theme}`);
  }
});

test('of a trace it is not known, and the page says so', { skip }, async () => {
  const program = recordProgram();
  const traced = await viewTrace(program.trace);
  const other = await openPage({ url: traced.url });
  await choose('leaf', 1, other.page);
  await other.page.getByText('A trace does not say how often lines ran').waitFor();
  assert.equal(await other.page.locator('.source-text.counted').count(), 0);
  assert.ok(await other.page.locator('.source-text li').count() > 10);
  await other.close();
  await traced.close();
  program.close();
});
