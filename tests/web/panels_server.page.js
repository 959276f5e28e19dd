// The panels on the real server, with the trace of a program of which the test knows what it does.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { openPage } from './page.js';
import { BRANCHES, LEAVES, recordProgram } from './recorded.js';
import { BINARY, viewTrace } from './viewer.js';

const skip = BINARY === null ? 'no program given: tests/web/run --binary' : false;

/** @type {ReturnType<typeof recordProgram>} */
let recorded;
/** @type {Awaited<ReturnType<typeof viewTrace>>} */
let viewer;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

/** @param {string} expression of "state" @returns {Promise<any>} */
const state = (expression) => page.evaluate(`(({ state }) => ${expression})(window.magicTrace)`);
/** @param {string} selector @returns {Promise<string>} */
const text = async (selector) => (await page.locator(selector).innerText()).replaceAll('\u00a0', ' ');
/** @param {string} name */
const panel = (name) => page.evaluate(`window.magicTrace.state.setPanel('${name}')`);

before(async () => {
  if (skip) return;
  recorded = recordProgram();
  viewer = await viewTrace(recorded.trace);
  opened = await openPage({ url: viewer.url, permissions: ['clipboard-read', 'clipboard-write'] });
  page = opened.page;
});
after(async () => {
  if (skip) return;
  await opened.close();
  await viewer.close();
  recorded.close();
});
beforeEach(async () => {
  if (skip) return;
  await page.evaluate(`(({ state }) => {
    document.activeElement?.blur();
    state.setView({ from: 0, to: state.duration });
    state.setSelection(null); state.setSpan(null);
    state.setSearch({ text: '', regex: false, group: null });
    state.setPanel('details');
  })(window.magicTrace)`);
});

/** @param {string} name */
async function search(name) {
  await page.keyboard.press('Control+f');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByText(/^[\d,]+ of [\d,]+$/).waitFor();
}

test('search walks through all calls', { skip }, async () => {
  await search('leaf');
  await page.getByRole('button', { name: `1 of ${LEAVES}` }).waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText(`${LEAVES} of ${LEAVES}, around`).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(`1 of ${LEAVES}, around`).waitFor();
});

test('where one stands follows the chosen call', { skip }, async () => {
  await search('leaf');
  await panel('calls');
  await page.locator('.slowest button').first().click();
  await page.getByText(new RegExp(`^(29[1-9]|300) of ${LEAVES}$`)).waitFor();
  // A span of another function has no number among them.
  await page.evaluate('(({ state }) => state.setSpan({ track: 0, depth: 0, start: 0, end: state.duration }))(window.magicTrace)');
  await page.getByRole('button', { name: `${LEAVES} calls` }).waitFor();
});

test('details, stack and source text of a call', { skip }, async () => {
  await search('leaf');
  await opened.until("document.querySelector('.panel-details h2')?.textContent === 'leaf'");
  const facts = await text('.panel-details dl');
  for (const words of ['program.c:', '0x', 'Beginning\nseen', 'End\nreturn']) assert.ok(facts.includes(words), `${words} in ${facts}`);
  const names = (await page.locator('.stack button').allInnerTexts()).map((/** @type {string} */ line) => line.split(' ')[0]);
  assert.deepEqual(names.slice(-3), ['main', 'branch', 'leaf']);
  await opened.picture('server-details');
  await page.locator('.panel-details').getByRole('button', { name: 'Source' }).click();
  await page.locator('.source-text .marked').waitFor();
  assert.match(await text('.source-text'), /sum \+= k;/);
  assert.match(await text('.source-text .marked'), /leaf\(int i\)|\{/);
  await opened.picture('server-source');
  renameSync(recorded.source, `${recorded.source}.gone`);
  await search('branch');
  await page.getByText(/program\.c:\d+ is not on this machine/).waitFor();
  renameSync(`${recorded.source}.gone`, recorded.source);
});

test('all calls: figures that fit the program', { skip }, async () => {
  await search('branch');
  await panel('calls');
  await page.locator('.histogram').waitFor();
  assert.match(await text('.panel-calls .figures'), new RegExp(`^Calls\\s+${BRANCHES}\\s+Seen from begin to end\\s+${BRANCHES} `));
  assert.equal(await page.locator('.slowest button').count(), BRANCHES);
  // The last call does the most.
  await page.locator('.slowest button').first().click();
  const slowest = await state('state.span');
  await page.keyboard.press('n');
  await page.getByText(`1 of ${BRANCHES}, around`).waitFor();
  assert.ok((await state('state.span.start')) < slowest.start);
  await opened.picture('server-calls');
});

test('why the slow call of a function is slow, and why the chosen one is', { skip }, async () => {
  await search('branch');
  await panel('calls');
  await page.locator('.explanation .causes').waitFor();
  assert.match(await text('.explanation'), new RegExp(`branch: ${BRANCHES} calls, median .*\\n.*more than usual`, 's'));
  const shares = (await page.locator('.explanation strong').allInnerTexts()).map((/** @type {string} */ words) => parseFloat(words.replace('−', '-')));
  assert.ok(Math.abs(shares.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) - 100) < 0.35, shares.join());
  const cause = page.locator('.causes li').first();
  assert.match(await cause.innerText(), /^[\d.]+\s%, .* leaf: its own code takes .* instead of /);
  await opened.picture('server-explanation');
  await page.getByRole('button', { name: 'Show a usual call' }).click();
  const usual = await state('state.span');
  await page.getByLabel('Calls that are explained').selectOption({ value: 'chosen' });
  await opened.until("location.hash.includes('why=chosen')");
  await opened.until("!document.querySelector('.explanation').textContent.includes('None took longer')");
  await page.locator('.explanation p').first().waitFor();
  await page.getByRole('button', { name: 'Show the slow call' }).click();
  assert.deepEqual(await state('state.span'), usual);
  await page.getByLabel('Calls that are explained').selectOption({ value: 'slow' });
  await page.getByText('None took longer').waitFor();
  await page.locator('.causes button').first().focus();
  await page.keyboard.press('Enter');
  await panel('details');
  await opened.until("document.querySelector('.panel-details h2')?.textContent === 'leaf'");
  assert.equal(await page.evaluate("fetch('api/explain?group=0&track=0&time=0&depth=9999').then(({ status }) => status)"), 404);
  opened.complaints.length = 0; // that the browser complains of a place without a call is as it should be
});

test('two calls compared: differences in words, as a flame graph, and both trees', { skip }, async () => {
  await search('branch');
  for (const [which, side] of [['Show a usual call', 'Set A'], ['Show the slow call', 'Set B']]) {
    await panel('calls');
    await page.getByRole('button', { name: which }).click();
    await panel('compare');
    await page.getByRole('button', { name: side }).click();
  }
  await page.locator('.trees tbody tr').first().waitFor();
  const causes = (await page.locator('.comparison-words li').allInnerTexts()).join('\n');
  assert.match(causes, /^\+[\d.]+\s\S+ leaf: /);
  const time = (/** @type {string} */ side) => state(`state.compared.${side}.call`).then(({ start, end }) => end - start);
  const more = (await time('b')) - (await time('a'));
  assert.ok(more > 0);
  const { nodes, causes: differences } = await page.evaluate(`(({ source, state: { compared } }) => source.compare(compared.a, compared.b))(window.magicTrace)`);
  assert.equal(differences.reduce((/** @type {number} */ sum, /** @type {any} */ cause) => sum + cause.difference, 0), more);
  assert.equal(nodes[0][7] - nodes[0][4], more);
  await opened.until("location.hash.includes('&a=') && location.hash.includes('&b=')");
  await page.locator('.difference canvas').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('.difference [role=status]').filter({ hasText: /^leaf: A .* in [\d,]+\scalls?, B .* in [\d,]+\scalls?, \+/ }).waitFor();
  await opened.picture('server-compare');
  await page.evaluate("window.magicTrace.state.setTheme('dark')");
  await opened.picture('server-compare-dark');
  await page.evaluate("window.magicTrace.state.setTheme('system')");
  await page.getByRole('button', { name: 'Exchange' }).click();
  await opened.until("document.querySelector('.comparison-words strong').textContent.startsWith('−')");
  await page.evaluate('(({ state }) => state.setSelection({ from: 0, to: state.duration / 2 }))(window.magicTrace)');
  await page.getByRole('button', { name: 'Set A' }).click();
  await page.getByText('A call is compared with a call').waitFor();
  await page.getByRole('button', { name: 'Set B' }).click();
  await page.locator('.comparison-words').getByText(': 0 ns').waitFor();
});

test('functions and flame graph', { skip }, async () => {
  await panel('functions');
  await page.getByPlaceholder('Filter by name').fill('leaf');
  await opened.until("document.querySelectorAll('.panel-functions tbody tr').length === 1");
  assert.equal(await page.locator('.panel-functions tbody td').first().innerText(), String(LEAVES));
  await page.getByPlaceholder('Filter by name').fill('');
  for (const column of ['Calls', 'Total', 'Longest', 'Shortest', 'Mean', 'Self']) {
    await page.locator('.panel-functions thead').getByRole('button', { name: column }).click();
    await page.locator(`th[aria-sort=descending]`, { hasText: column }).waitFor();
  }
  await opened.picture('server-functions');
  await panel('flame');
  await page.evaluate("window.magicTrace.state.setSearch({ text: 'leaf' })");
  await page.getByText(/Searched functions: \d/).waitFor();
  await opened.picture('server-flame');
});

test('marks: the hits of the trigger, and what led up to one', { skip }, async () => {
  await panel('marks');
  await page.getByText(`${BRANCHES} marks`).waitFor();
  await opened.picture('server-marks');
  await page.locator('.marks button').first().click();
  await opened.until('window.magicTrace.state.span !== null');
  const [span, view] = await state('[state.span, state.view]');
  assert.ok(view.from < span.end && view.to > span.end);
});

test('the calls of a measured range as text', { skip }, async () => {
  await search('branch');
  await page.evaluate('(({ state }) => state.setSelection({ from: state.span.start, to: state.span.end }))(window.magicTrace)');
  await page.getByRole('button', { name: 'Copy calls' }).click();
  await page.getByText('Copied the calls of the measured range.').waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  assert.equal(copied.match(/ leaf$/gm)?.length, LEAVES / BRANCHES);
});

test('the trace is handed over to Perfetto', { skip }, async () => {
  // What stands in for it answers as https://ui.perfetto.dev does.
  const standIn = `<script>window.addEventListener('message', ({ data, source, origin }) => {
    if (data === 'PING') source.postMessage('PONG', origin); else window.got = data.perfetto;
  });</script>`;
  await page.context().route('https://ui.perfetto.dev/**', (/** @type {any} */ route) => route.fulfill({ contentType: 'text/html', body: standIn }));
  const opens = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Open in Perfetto' }).click();
  const perfetto = await opens;
  await page.getByText('Perfetto has the trace.').waitFor();
  const got = await perfetto.evaluate('({ title: window.got.title, size: window.got.buffer.byteLength })');
  assert.deepEqual(got, { title: 'trace.fxt', size: recorded.trace.length });
  await perfetto.close();
});

test('a trace too large for Perfetto is not handed over without a warning', { skip }, async () => {
  await page.evaluate('window.magicTrace.info.spans = 12e6');
  await page.getByRole('button', { name: 'Open in Perfetto' }).click();
  await page.getByRole('dialog').getByText("The trace has 12,000,000 spans; Perfetto's browser tab runs out of memory near 11,000,000.").waitFor();
  await page.getByRole('button', { name: 'Open it all the same' }).waitFor();
  await page.keyboard.press('Escape');
});

test('a server that has gone is reported in words', { skip }, async () => {
  await page.route('**/api/table*', (/** @type {any} */ route) => route.abort());
  await panel('functions');
  await page.evaluate('window.magicTrace.state.setSelection({ from: 0, to: 10 })');
  await page.getByText('the server does not answer. Is `magic-trace view` still running?').waitFor();
  await page.unroute('**/api/table*');
  // That the browser complains of a server that has gone is as it should be.
  opened.complaints.length = 0;
});

test('SQL: a query, its rows, the way to a call, a mistake, a link', { skip }, async () => {
  await panel('sql');
  const box = page.getByRole('textbox', { name: 'SQL' });
  await box.fill("SELECT thread_id, depth, function, start, duration FROM calls WHERE function = 'leaf' ORDER BY start LIMIT 3");
  await box.press('Control+Enter');
  await page.getByText(/^3\s+rows$/).waitFor();
  await opened.picture('sql');
  assert.equal(await page.locator('.panel-sql tbody tr').count(), 3);
  await page.locator('.panel-sql tbody tr').nth(1).getByRole('button').click();
  await opened.until('window.magicTrace.state.span !== null');
  const span = await state('state.span');
  const name = await page.evaluate(`(async ({ source }) => (await source.span(${span.track}, ${span.depth}, ${span.start})).span.name)(window.magicTrace)`);
  assert.equal(name, 'leaf');
  await opened.until("decodeURIComponent(window.location.hash).includes('ORDER+BY')");
  await box.fill('SELECT nothing_such FROM calls');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText(/no such column: nothing_such/).waitFor();
  await page.getByLabel('Examples').selectOption({ label: 'Where the time goes' });
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^\d+\s+rows?$/).waitFor();
  assert.match(await text('.panel-sql table'), /leaf/);
});

test('a link outlives its server, and -at shows a moment or a call', { skip }, async () => {
  await page.evaluate("window.magicTrace.state.setView({ from: 1000, to: 2000 }); window.magicTrace.state.setPanel('calls')");
  await opened.until("location.hash.includes('view=1000-2000')");
  const link = await page.evaluate('location.href');
  for (const [place, check] of [
    [link, "state.view.from === 1000 && state.view.to === 2000 && state.panel === 'calls'"],
    [link.slice(link.indexOf('#')), 'state.view.from === 1000'],
    ['leaf#7', "state.span !== null && document.querySelector('.panel-details h2').textContent === 'leaf'"],
    ['15us', 'state.view.from === 5000 && state.view.to === 25000'],
  ]) {
    const again = await viewTrace(recorded.trace, ['-at', place]);
    const shown = await openPage({ url: again.url });
    await shown.until(`(({ state }) => ${check})(window.magicTrace)`);
    await shown.close();
    await again.close();
  }
  await assert.rejects(viewTrace(recorded.trace, ['-at', 'nobody']), /nobody/);
  await assert.rejects(viewTrace(recorded.trace, ['-at', '#a=b c']), /no address/);
});
