// Every panel, clicked through in a browser on a trace that the page carries in itself.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openPage } from './page.js';
import { makeTrace } from './traces.js';

/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

/** What the page's state says. @param {string} expression of "state" @returns {Promise<any>} */
const state = (expression) => page.evaluate(`(({ state }) => ${expression})(window.magicTrace)`);
/** @param {string} selector @returns {Promise<string>} */
const text = async (selector) => (await page.locator(selector).innerText()).replaceAll('\u00a0', ' ');
const OUTERMOST = `(({ state, info: { tracks: [{ first, last }] } }) =>
  state.setSpan({ track: 0, depth: 0, start: first, end: last }))(window.magicTrace)`;

before(async () => {
  opened = await openPage({ trace: makeTrace(), permissions: ['clipboard-read', 'clipboard-write'] });
  page = opened.page;
});
after(() => opened.close());
beforeEach(async () => {
  await page.keyboard.press('Escape');
  await page.evaluate(`(({ state }) => {
    document.activeElement?.blur();
    state.setView({ from: 0, to: state.duration });
    state.setSelection(null); state.setSpan(null); state.setFlags([]);
    state.setSearch({ text: '', regex: false, group: null });
    state.setFlame('stacks'); state.setLengths(null);
    state.setPanel('details');
  })(window.magicTrace)`);
});

/** @param {string} name of a function, typed in full */
async function search(name) {
  await page.keyboard.press('Control+f');
  await page.keyboard.type(name);
  await page.locator('#search-matches [role=option]').first().waitFor();
  await opened.until(`[...document.querySelectorAll('#search-matches .name')].some((name) => name.textContent === ${JSON.stringify(name)})`);
  while (!(await page.locator('#search-matches [aria-selected=true] .name').innerText()).startsWith(name)) await page.keyboard.press('ArrowDown');
}

test('the details of a span: facts, stack, buttons', async () => {
  assert.match(await text('.panel-details'), /Click a span/);
  await page.evaluate(OUTERMOST);
  await page.locator('.panel-details dl').waitFor();
  assert.equal(await text('.panel-details h2'), 'main');
  const facts = await text('.panel-details dl');
  for (const words of ['Duration', 'Self time', 'main (server)', '/src/server.c:1', '0x401000', 'inferred: it was open already', 'UTC'])
    assert.ok(facts.includes(words), `${words} in ${facts}`);
  await page.locator('.panel-details').getByRole('button', { name: 'Next call' }).click();
  await opened.until('window.magicTrace.state.span.start > window.magicTrace.info.tracks[0].first');
  await opened.until('document.querySelectorAll(".stack button").length > 1');
  const deep = await state('state.span.depth');
  assert.equal(await page.locator('.stack button').count(), deep + 1);
  assert.equal(await page.locator('.stack [aria-current]').count(), 1);
  await opened.picture('details');
  await page.locator('.stack button').first().click();
  await opened.until('window.magicTrace.state.span.depth === 0');
  await page.getByRole('button', { name: 'Zoom to it' }).click();
  assert.ok((await state('state.view.from')) <= (await state('state.span.start')));
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByText('Copied what is known of the span.').waitFor();
  assert.match(await page.evaluate('navigator.clipboard.readText()'), /^main\nDuration: /);
  await page.getByRole('button', { name: 'Copy its calls' }).click();
  await page.getByText('Copied the calls in the span.').waitFor();
  assert.match(await page.evaluate('navigator.clipboard.readText()'), /^main .*\n {2}\S/);
});

test('where the clipboard is refused the text is shown, chosen', async () => {
  await page.evaluate(OUTERMOST);
  await page.locator('.panel-details dl').waitFor();
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))");
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  const area = page.locator('dialog textarea');
  await area.waitFor();
  assert.match(await area.inputValue(), /^main\nDuration: /);
  assert.equal(await area.evaluate((/** @type {any} */ node) => node.selectionEnd === node.value.length && document.activeElement === node), true);
  await page.keyboard.press('Escape');
  await opened.until('document.querySelector("dialog") === null');
  await page.evaluate('delete navigator.clipboard.writeText');
});

test('search: matches with counts, walking with keys, ordinals', async () => {
  await search('malloc');
  await opened.picture('search');
  assert.match(await text('#search-matches [aria-selected=true]'), /^malloc\s+782 calls$/);
  await page.keyboard.press('Enter');
  await page.getByText('1 of 782').waitFor();
  assert.equal(await state('state.search.group'), 7);
  await page.keyboard.press('Enter');
  await page.getByText('2 of 782').waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText('1 of 782').waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText('782 of 782, around').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.getByText('1 of 782, around').waitFor();
  await page.keyboard.press('n');
  await page.getByText('2 of 782').waitFor();
  await page.keyboard.press('N');
  await page.getByText('1 of 782').waitFor();
  await page.getByRole('button', { name: '1 of 782' }).click();
  assert.equal(await state('state.panel'), 'calls');
});

test('search: the key for the next call leads to the box when no function is chosen', async () => {
  await page.keyboard.press('n');
  await opened.until("document.activeElement.getAttribute('role') === 'combobox'");
  assert.equal(await page.locator('.search input').inputValue(), '');
});

test('search: who types fast and presses Enter gets what was typed', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('vfs_read');
  await page.keyboard.press('Enter');
  await page.getByText(/^1 of \d+$/).waitFor();
  assert.equal(await state('state.search.group'), 15);
});

test('search: regular expressions, and what is wrong with one', async () => {
  await page.keyboard.press('Control+f');
  await page.getByRole('button', { name: 'Regular expression' }).click();
  await page.keyboard.type('^m.*c$');
  await page.getByText('1 function', { exact: true }).waitFor();
  assert.equal(await page.locator('#search-matches [role=option]').count(), 1);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('(');
  await page.locator('.search-popup [role=alert]').waitFor();
  assert.match(await text('.search-popup [role=alert]'), /no regular expression/);
  await page.getByRole('button', { name: 'Regular expression' }).click();
  await page.locator('#search-matches [role=option]').first().waitFor();
});

test('a name of a function is never markup', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('<');
  await page.getByText('2 functions', { exact: true }).waitFor();
  assert.match(await text('#search-matches'), /std::vector<int>::push_back\(int const&\)/);
});

test('all calls of a function: figures, histogram, the slowest with a jump to each', async () => {
  await page.evaluate("window.magicTrace.state.setSearch({ text: 'malloc', group: 7 }); window.magicTrace.state.setPanel('calls')");
  await page.locator('.histogram').waitFor();
  assert.match(await text('.panel-calls .figures'), /Calls\s+782\s.*Median.*99th percentile.*Longest/s);
  await opened.picture('calls');
  // Of the slowest calls those that were not seen whole say so, and the list says how many are in no length.
  assert.match(await text('.panel-calls .figures'), /Of them recursive\s+\d+, not counted again in Together\s+Cut, in no length below\s+\d+/);
  assert.ok((await page.locator('.slowest .cut').count()) > 0);
  const bar = page.locator('.histogram .bar').first();
  assert.match((await bar.getAttribute('aria-label')).replaceAll('\u00a0', ' '), /^0 ns to 1 ns: \d+ calls$/);
  await bar.focus();
  await page.keyboard.press('End');
  assert.match(await text('.histogram-status'), /ms to .*: 2 calls$/);
  // A bar lists its calls, and gives them up again.
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^2 calls of .*ms to/ }).waitFor();
  assert.equal(await page.locator('.slowest li').count(), 2);
  assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-pressed')"), 'true', 'the bar keeps the focus');
  await opened.until("location.hash.includes('lengths=')");
  await opened.picture('calls-of-a-bar');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'The 50 slowest calls' }).waitFor();
  // So does the map of calls over time: a cell leads to its longest call.
  const cells = page.locator('.call-map .cell');
  assert.ok((await cells.count()) > 20);
  await cells.first().focus();
  await page.keyboard.press('End');
  assert.match(await text('.call-map-status'), /^(1 call: |\d+ calls of .*; the longest )/);
  await page.keyboard.press('Enter');
  await opened.until('window.magicTrace.state.span !== null');
  const slowest = page.locator('.slowest button');
  assert.equal(await slowest.count(), 50);
  await slowest.nth(1).click();
  const span = await state('state.span');
  const length = (await slowest.nth(1).locator('strong').innerText()).replaceAll('\u00a0', ' ');
  assert.ok(length.startsWith(((span.end - span.start) / 1e6).toFixed(3)), `${length} is that of the span`);
  // Of a measured range only.
  await page.evaluate('window.magicTrace.state.setSelection({ from: 0, to: 10e6 })');
  await opened.until('!document.querySelector(".panel-calls .figures").innerText.includes("782")');
});

test('the table of functions: sorting, filter, of a measured range, to the calls', async () => {
  await page.getByRole('tab', { name: 'Functions' }).click();
  await page.locator('.panel-functions tbody tr').first().waitFor();
  await opened.picture('functions');
  assert.equal(await page.locator('.panel-functions tbody tr').count(), 20);
  const first = () => page.locator('.panel-functions tbody th').first().innerText();
  assert.equal(await first(), 'main');
  assert.equal(await page.locator('th[aria-sort]').getAttribute('data-column'), 'self');
  await page.locator('th[data-column=name] button').click();
  assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'ascending');
  await page.locator('th[data-column=name] button').click();
  assert.equal(await first(), 'vfs_read');
  await page.getByPlaceholder('Filter by name').fill('LOC');
  await opened.until('document.querySelectorAll(".panel-functions tbody tr").length === 3');
  const calls = await page.locator('.panel-functions tbody td').first().innerText();
  await page.evaluate('window.magicTrace.state.setSelection({ from: 20e6, to: 21e6 })');
  await opened.until(`document.querySelector('.panel-functions tbody td').innerText !== ${JSON.stringify(calls)}`);
  assert.equal(await page.locator('.panel-functions select').inputValue(), 'measured');
  await page.getByPlaceholder('Filter by name').fill('');
  await opened.until('document.querySelectorAll(".panel-functions tbody tr").length > 3');
  await page.getByRole('button', { name: 'malloc' }).click();
  assert.deepEqual(await state('[state.panel, state.search.group]'), ['calls', 7]);
});

test('the flame graph: zoom, tooltip, keyboard, search', async () => {
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const canvas = page.locator('.flame canvas');
  await opened.until("document.querySelector('.flame-spacer').offsetHeight > 60");
  await opened.picture('flame');
  await canvas.hover({ position: { x: 30, y: 48 } });
  assert.match(await text('.flame-tip'), /min\n.*ms, \d.*% of the range, .*% of its caller; self .*; [\d,]+ calls?/);
  await canvas.click({ position: { x: 30, y: 48 } });
  assert.equal(await page.getByRole('button', { name: 'Reset zoom' }).isEnabled(), true);
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await text('.flame-status'), /^\S+.*of the range/);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Backspace');
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  assert.equal(await page.locator('.panel-flame').getByRole('button', { name: 'Zoom out' }).isEnabled(), false);
  await page.evaluate("window.magicTrace.state.setSearch({ text: 'malloc', group: null })");
  await page.getByText(/Searched functions: \d/).waitFor();
  await opened.picture('flame-search');
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('.panel-flame').getByRole('button', { name: 'All calls' }).click();
  assert.equal(await state('state.panel'), 'calls');
});

test('the flame graph upside down, of one span, and the callers and callees of a function', async () => {
  await page.evaluate("window.magicTrace.state.setPanel('flame')");
  const view = page.getByRole('combobox', { name: 'View of the stacks' });
  await view.selectOption('upside-down');
  await opened.until("location.hash.includes('flame=upside-down')");
  await opened.drawn();
  await opened.picture('flame-upside-down');
  await view.selectOption('callers');
  await page.getByText('Choose a function to see its callers or callees').waitFor();
  await page.evaluate("window.magicTrace.state.setSearch({ text: 'malloc', group: 7 })");
  assert.deepEqual((await view.locator('option').allInnerTexts()).slice(2), ['Callers of malloc', 'Callees of malloc']);
  await page.locator('.flame canvas').focus();
  await page.keyboard.press('ArrowDown');
  await opened.until("document.querySelector('.flame-status').textContent.startsWith('malloc: ')");
  await opened.picture('flame-callers');
  // Of the chosen span alone: what is outermost there is its own stack.
  await view.selectOption('stacks');
  await page.evaluate(`(async ({ state, source }) => {
    const { start, end, spans } = await source.tiles(0, { from: 0, to: state.duration }, 65536, 1, 1);
    const first = spans.indexOf(1);
    state.setSpan({ track: 0, depth: 1, start: start[first], end: end[first] });
  })(window.magicTrace)`);
  await page.locator('.panel-flame .range-choice select').selectOption('span');
  await opened.until("document.querySelector('.panel-flame .range-choice .quiet').textContent !== '50.00\u00a0ms'");
  await opened.drawn();
  await opened.picture('flame-of-a-span');
  await page.locator('.panel-flame .range-choice select').selectOption('whole');
});

test('source text, with the line marked', async () => {
  await page.evaluate(OUTERMOST);
  await page.locator('.panel-details').getByRole('button', { name: 'Source' }).click();
  await page.locator('.source-text .marked').waitFor();
  await opened.picture('source');
  assert.equal(await text('.source-text .marked'), 'int main(void)');
  await search('render');
  await page.keyboard.press('Enter');
  await page.getByText('/src/server.c:31 is not on this machine, or cannot be read.').waitFor();
  await search('malloc');
  await page.keyboard.press('Enter');
  await page.getByText('The trace does not say from which file malloc comes.').waitFor();
});

test('marks: hits, gaps and errors with a jump to each', async () => {
  await page.getByRole('tab', { name: 'Marks' }).click();
  await page.getByText('6 marks').waitFor();
  await opened.picture('marks');
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('gap');
  await page.getByText('1 mark', { exact: true }).waitFor();
  await page.locator('.marks button').click();
  const view = await state('state.view');
  assert.ok(view.from < 15e6 && view.to > 15e6 && view.to - view.from <= 50e3);
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('hit');
  await page.locator('.marks button').first().click();
  const place = await state('state.span');
  assert.deepEqual([place.depth, place.start, place.end, (await page.evaluate('window.magicTrace.info.tracks'))[place.track].kind], [0, 9995000, 1e7, 'hits']);
});

test('counters at the cursor', async () => {
  await page.getByRole('tab', { name: 'Counters' }).click();
  await page.evaluate('window.magicTrace.state.setCursor(25e6)');
  await page.getByText('At 25.000000 ms').waitFor();
  assert.match(await text('.panel-counters dl'), /frequency\s+[\d.]+ GHz/);
  await opened.picture('counters');
  await page.evaluate('window.magicTrace.state.setCursor(null)');
});

test('flags: add, rename, jump, remove', async () => {
  await page.evaluate("window.magicTrace.state.setCursor(5e6); window.magicTrace.state.setPanel('flags')");
  await page.keyboard.press('m');
  await page.evaluate('window.magicTrace.state.setCursor(2e6)');
  await page.keyboard.press('m');
  await page.evaluate('window.magicTrace.state.setCursor(null)');
  assert.deepEqual(await state('state.flags'), [{ time: 2e6, text: 'Flag 2' }, { time: 5e6, text: 'Flag 1' }]);
  const name = page.getByRole('textbox', { name: /2\.000000.ms/ });
  await name.focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('slow, and why');
  assert.equal(await state('state.flags[0].text'), 'slow, and why');
  await opened.picture('flags');
  await page.getByRole('button', { name: /^5\.000000.ms/ }).click();
  assert.ok((await state('state.view.from')) > 4.9e6);
  await page.getByRole('button', { name: 'Remove' }).first().click();
  assert.deepEqual(await state('state.flags'), [{ time: 5e6, text: 'Flag 1' }]);
});

test('the measured range: what it is, copied as text, zoomed to, cleared', async () => {
  await page.evaluate('window.magicTrace.state.setSelection({ from: 20e6, to: 20.01e6 }, [0])');
  assert.match(await text('.selection-bar'), /^Measured 10\.00 us from 20\.\d+ ms on 1 track/);
  await opened.picture('selection');
  await page.getByRole('button', { name: 'Copy calls' }).click();
  await page.getByText('Copied the calls of the measured range.').waitFor();
  assert.match(await page.evaluate('navigator.clipboard.readText()'), /^main/);
  await page.locator('.selection-bar').getByRole('button', { name: 'Zoom to it' }).click();
  assert.deepEqual(await state('state.view'), { from: 20e6, to: 20.01e6 });
  await page.keyboard.press('Escape');
  assert.equal(await state('state.selection'), null);
});

test('Escape closes the panels, the button opens them again, ? lists the keys', async () => {
  await page.keyboard.press('Escape');
  assert.equal(await state('state.panel'), null);
  await page.getByRole('button', { name: 'Panels', exact: true }).click();
  assert.equal(await state('state.panel'), 'details');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await opened.picture('help');
  await page.keyboard.press('Escape');
  await opened.until('document.querySelector("dialog") === null');
  assert.equal(await state('state.panel'), 'details');
});

test('tabs by keyboard alone', async () => {
  await page.getByRole('tab', { name: 'Span' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await state('state.panel'), 'calls');
  await page.keyboard.press('End');
  assert.equal(await state('state.panel'), 'counters');
  assert.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1);
});

test('the theme is switched', async () => {
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  await page.evaluate("window.magicTrace.state.setPanel('flame')");
  await opened.drawn();
  await opened.picture('dark');
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('system');
});

test('what takes long says so and can be stopped; a failure is shown in words; an answer of the past is not shown', async () => {
  // A source that answers when the test says so.
  await page.evaluate(`(() => {
    const { source } = window.magicTrace;
    window.asked = [];
    source.table = (range, tracks, top, sort, signal) => new Promise((resolve, reject) => window.asked.push({ resolve, reject, signal }));
  })()`);
  /** @param {number} group @returns {string} */
  const answer = (group) => {
    const row = { group, name: `f${group}`, calls: 1, total: 1, self: 1, whole: 0, min: 0, max: 0, mean: 0 };
    return JSON.stringify({ rows: [row], omittedRows: 0, omittedSelf: 0, time: 1 });
  };
  const panel = page.locator('.panel-functions');
  await page.evaluate("window.magicTrace.state.setPanel('functions'); window.magicTrace.state.setSelection({ from: 1, to: 2 })");
  await panel.getByText('Adding up the functions …').waitFor();
  await page.evaluate('window.magicTrace.state.setSelection({ from: 1, to: 3 })');
  await page.evaluate(`window.asked.at(-2).resolve(${answer(1)})`);
  await page.evaluate(`window.asked.at(-1).resolve(${answer(2)})`);
  await panel.getByRole('button', { name: /^parse_header/ }).waitFor();
  assert.equal(await panel.getByRole('button', { name: /^serve_request/ }).count(), 0);
  assert.deepEqual(await page.evaluate('window.asked.slice(-2).map(({ signal }) => signal.aborted)'), [true, false]);
  await page.evaluate('window.magicTrace.state.setSelection({ from: 1, to: 4 })');
  await panel.getByRole('button', { name: 'Stop' }).click();
  await panel.getByText('Stopped.').waitFor();
  // What stands there is that of another range.
  assert.equal(await panel.locator('tbody.outdated').count(), 1);
  assert.equal(await page.evaluate('window.asked.at(-1).signal.aborted'), true);
  await page.evaluate('window.magicTrace.state.setSelection({ from: 1, to: 5 })');
  await page.evaluate("window.asked.at(-1).reject(new Error('the server does not answer'))");
  assert.equal(await panel.getByRole('alert').innerText(), 'the server does not answer');
  await page.evaluate('delete window.magicTrace.source.table');
});

test('the trace says how it was recorded; samples are not called calls', async () => {
  const sampled = await openPage({ trace: { ...makeTrace({ seed: 3 }), sampled: true, recorded: 'Sampled: times are native' } });
  const { page: shown } = sampled;
  assert.match(await shown.locator('#recorded').innerText(), /^Sampled: times are native\. These are samples, not calls/);
  await shown.getByRole('tab', { name: 'Functions' }).click();
  await shown.locator('.panel-functions tbody tr').first().waitFor();
  const heads = await shown.locator('.panel-functions thead th').allInnerTexts();
  assert.deepEqual(heads.map((/** @type {string} */ head) => head.trim()), ['Function', 'Spans', 'Self', 'Total']);
  await shown.locator('.panel-functions tbody button').first().click();
  await shown.locator('.panel-calls .figures').waitFor();
  assert.doesNotMatch(await shown.locator('.panel-calls .figures').innerText(), /Calls|Median|Longest/);
  await sampled.picture('sampled');
  await sampled.close();
  const exact = await openPage({ trace: makeTrace({ seed: 3 }) });
  assert.equal(await exact.page.locator('#recorded').isVisible(), false);
  await exact.close();
});
