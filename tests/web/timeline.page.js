// The timeline, used in a browser as a user does, on traces that the page carries in itself.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { EmbeddedSource } from '../../web/data/embedded.js';
import { openPage } from './page.js';
import { makeTallTrace, makeTrace, packSpans, withSwitches } from './traces.js';

const DURATION = 50_000_000;
const HEAD = { ruler: 13, marks: 34, tracks: 42 }; // CSS pixels below the upper edge of the overlay

/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

/** @param {string} expression of "state", "timeline", "info" @returns {Promise<any>} */
const ask = (expression) => page.evaluate(`(({ state, timeline, info }) => ${expression})(window.magicTrace)`);
const settled = () => opened.until('window.magicTrace.timeline.facts.missing === 0 && window.magicTrace.timeline.isIdle');

before(async () => {
  opened = await openPage({ trace: makeTrace({ duration: DURATION }), width: 1400, height: 900 });
  page = opened.page;
});
after(() => opened.close());
beforeEach(async () => {
  await page.mouse.move(5, 5);
  await page.evaluate(`(({ state, info }) => {
    document.activeElement?.blur();
    for (const { id } of info.tracks) { state.setFolded(id, false); state.setTall(id, false); state.setPinned(id, false); }
    state.setFilter(''); state.setOrder('start'); state.setColours('origin');
    state.setSpan(null); state.setSelection(null); state.setFlags([]); state.setPanel(null);
    state.setSearch({ text: '', regex: false, group: null });
    state.setView({ from: 0, to: state.duration });
  })(window.magicTrace)`);
  await page.keyboard.press('1');
  await settled();
});

/** Where a moment of a track's row is, on the page. @param {number} track @param {number} depth @param {number} time */
async function pointOf(track, depth, time) {
  const { left, top, x, y } = await page.evaluate(`(({ timeline }) => {
    const { left, top } = document.querySelector('.overlay').getBoundingClientRect();
    return { left, top, ...timeline.pointOf(${track}, ${depth}, ${time}) };
  })(window.magicTrace)`);
  return { x: left + x, y: top + y };
}

/** The overlay's box on the page. @returns {Promise<{x: number, y: number, width: number, height: number}>} */
const box = () => page.locator('.overlay').boundingBox();

/** A span of a row that is drawn wide enough to be clicked. @param {number} depth */
async function wideSpan(depth) {
  const tiles = await ask('timeline.drawn()');
  const found = tiles.find((/** @type {any} */ tile) => tile.track === 0 && tile.depth === depth && tile.spans === 1 && tile.end - tile.start > DURATION / 200);
  assert.ok(found, `a wide span at depth ${depth}`);
  return found;
}

test('what is drawn is what the source answers', async () => {
  const source = new EmbeddedSource(makeTrace({ duration: DURATION }));
  for (const [from, to] of [[0, DURATION], [20e6, 21e6], [20_500_000, 20_500_400]]) {
    await ask(`state.setView({ from: ${from}, to: ${to} })`);
    await settled();
    const resolution = 2 ** Math.max(0, Math.floor(Math.log2((to - from) / (await box()).width)));
    const drawn = (await ask('timeline.drawn()')).filter((/** @type {any} */ tile) => tile.track === 0);
    const { start, end, depth, spans } = await source.tiles(0, { from, to }, resolution, 0, 100);
    const want = Array.from(start, (_, i) => [depth[i], start[i], end[i], spans[i]].join()).sort();
    const got = drawn.map((/** @type {any} */ tile) => [tile.depth, tile.start, tile.end, tile.spans].join());
    // At the edges a merged tile may be drawn that only touches the view.
    for (const line of want) assert.ok(got.includes(line), line);
    assert.ok(got.length <= want.length + 2 * 30, `${got.length} and ${want.length}`);
  }
});

test('a span has the colour of its function, and the picture is only drawn when something changed', async () => {
  const { x, y } = await pointOf(0, 0, 25e6);
  const colour = await page.evaluate(`(() => {
    const canvas = document.querySelector('canvas.tracks');
    const { left, top } = canvas.getBoundingClientRect();
    return [...canvas.getContext('2d').getImageData(${x} - left, ${y} - top + 6, 1, 1).data];
  })()`);
  assert.ok(colour[2] > colour[0], `own code is blue: ${colour}`);
  const frames = await ask('timeline.facts.frames');
  await opened.drawn();
  assert.equal(await ask('timeline.facts.frames'), frames);
});

test('the user chooses what colours mean', async () => {
  const choice = page.getByLabel('What colours mean');
  const pixels = () => page.evaluate(`document.querySelector('canvas.tracks').toDataURL()`);
  const pictures = new Set([await pixels()]);
  for (const [colours, words] of [['function', 'a colour per function'], ['module', 'a colour per module'], ['self', 'most time']]) {
    await choice.selectOption(colours);
    assert.equal(await ask('state.colours'), colours);
    await opened.until(`document.querySelector('.legend').textContent.includes('${words}')`);
    await opened.until(`location.hash.includes('colours=${colours}')`);
    await settled();
    await opened.drawn();
    await opened.picture(`colours-${colours}`);
    pictures.add(await pixels());
  }
  assert.equal(pictures.size, 4);
  await choice.selectOption('origin');
  await opened.drawn();
  assert.ok(pictures.has(await pixels()));
});

test('dragging moves the view', async () => {
  await ask('state.setView({ from: 20e6, to: 30e6 })');
  const { x, y, width } = await box();
  await page.mouse.move(x + 600, y + 200);
  await page.mouse.down();
  await page.mouse.move(x + 600 - width / 10, y + 200, { steps: 5 });
  await page.mouse.up();
  const { from, to } = await ask('state.view');
  assert.ok(Math.abs(from - 21e6) < 2e4 && Math.abs(to - 31e6) < 2e4, `${from}`);
  assert.equal(await ask('state.selection'), null);
  assert.equal(await ask('state.span'), null, 'a drag is no click');
});

test('Shift and dragging, dragging the ruler, and the mode "measure" measure a range', async () => {
  const { x, y, width } = await box();
  const drag = async (/** @type {number} */ top, /** @type {number} */ bottom) => {
    await page.mouse.move(x + width * 0.2, y + top);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.4, y + bottom, { steps: 4 });
    await page.mouse.up();
    return ask('state.selection');
  };
  const inTrack = (await pointOf(0, 2, 0)).y - y;
  await page.keyboard.down('Shift');
  const shifted = await drag(inTrack, inTrack + 3);
  await page.keyboard.up('Shift');
  assert.deepEqual(shifted.tracks, [0]);
  await page.mouse.move(x + width * 0.4, y + HEAD.ruler);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.6, y + HEAD.ruler, { steps: 3 });
  await page.mouse.up();
  const widened = await ask('state.selection');
  assert.deepEqual(widened.tracks, [0], 'an edge that is dragged on the ruler keeps the tracks');
  assert.ok(widened.range.from === shifted.range.from && Math.abs(widened.range.to - DURATION * 0.6) < 1e5);
  assert.ok(Math.abs(shifted.range.from - DURATION * 0.2) < 1e5 && Math.abs(shifted.range.to - DURATION * 0.4) < 1e5);
  await page.mouse.click(x + 20, y + HEAD.ruler);
  assert.equal(await ask('state.selection'), null, 'a click on the ruler clears it');
  assert.equal((await drag(HEAD.ruler, HEAD.ruler)).tracks, null, 'the ruler measures all tracks');
  await ask('state.setSelection(null)');
  await page.keyboard.press('2');
  const measured = await drag(inTrack, (await pointOf(1, 2, 0)).y - y);
  assert.deepEqual(measured.tracks, [0, 1]);
  assert.deepEqual(await ask('state.view'), { from: 0, to: DURATION });
  await opened.picture('timeline-measured');
});

test('the wheel zooms with Ctrl at the pointer, moves with Shift, scrolls alone', async () => {
  const { x, y, width } = await box();
  await page.mouse.move(x + width / 4, y + 200);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -500);
  await page.keyboard.up('Control');
  await opened.until('window.magicTrace.state.view.to < 25e6');
  const zoomed = await ask('state.view');
  assert.ok(Math.abs(zoomed.from + (zoomed.to - zoomed.from) / 4 - DURATION / 4) < 1e5, 'the moment under the pointer stays');
  await page.keyboard.down('Shift');
  await page.mouse.wheel(0, 100);
  await page.keyboard.up('Shift');
  await opened.until(`window.magicTrace.state.view.from > ${zoomed.from + 1e5}`);
  await page.mouse.wheel(0, 100);
  await opened.until('window.magicTrace.timeline.facts.scroll === 100');
});

test('two fingers zoom, one moves', async () => {
  const { x, y, width } = await box();
  const touch = await page.context().newCDPSession(page);
  /** @param {string} type @param {number[]} places of fingers, shares of the width */
  const fingers = (type, places) =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints: places.map((share, id) => ({ x: x + share * width, y: y + 200, id })) });
  await fingers('touchStart', [0.4, 0.6]);
  for (const away of [0.12, 0.16, 0.2]) await fingers('touchMove', [0.5 - away, 0.5 + away]);
  await fingers('touchEnd', []);
  const pinched = await ask('state.view');
  assert.ok(Math.abs(pinched.to - pinched.from - DURATION / 2) < DURATION / 50, `${pinched.from} to ${pinched.to}`);
  assert.ok(Math.abs((pinched.from + pinched.to) / 2 - DURATION / 2) < DURATION / 50, 'around the middle of the fingers');
  await fingers('touchStart', [0.5]);
  for (const share of [0.45, 0.4, 0.3]) await fingers('touchMove', [share]);
  await fingers('touchEnd', []);
  const moved = await ask('state.view');
  assert.ok(Math.abs(moved.from - pinched.from - DURATION / 10) < DURATION / 50);
  assert.equal(await ask('state.span'), null);
});

test('a click chooses a span, a second zooms to it, an empty place chooses none', async () => {
  const { start, end, depth } = await wideSpan(1);
  const { x, y } = await pointOf(0, depth, (start + end) / 2);
  await page.mouse.click(x, y);
  await opened.until('window.magicTrace.state.span !== null');
  assert.deepEqual(await ask('state.span'), { track: 0, depth, start, end });
  await opened.until(`document.getElementById('live').textContent.includes('depth ${depth}')`);
  await page.mouse.dblclick(x, y);
  await opened.until(`window.magicTrace.state.view.to - window.magicTrace.state.view.from < ${(end - start) * 3.1}`);
  await opened.picture('timeline-chosen');
  const empty = await pointOf(0, 0, 0);
  await ask('state.setView({ from: 0, to: state.duration })');
  await settled();
  await page.mouse.click(empty.x + 1e-3 * 0 + 2, empty.y);
  await opened.until('window.magicTrace.state.span === null');
});

test('a merged tile says how many calls it is, and a click chooses one of them', async () => {
  const merged = (await ask('timeline.drawn()')).find((/** @type {any} */ tile) => tile.spans > 3 && tile.track === 0);
  const { x, y } = await pointOf(0, merged.depth, (merged.start + merged.end) / 2);
  await page.mouse.move(x, y);
  await page.locator('.tooltip strong').waitFor();
  assert.match(await page.locator('.tooltip').innerText(), /calls[\s\S]*longest/);
  await page.mouse.click(x, y);
  await opened.until('window.magicTrace.state.span !== null');
  assert.equal(await ask('state.span.depth'), merged.depth);
});

test('keys move and zoom, wherever the focus is but in a text', async () => {
  const view = () => ask('state.view');
  await page.keyboard.press('w');
  await opened.until('window.magicTrace.state.view.to - window.magicTrace.state.view.from < 49e6');
  const before = await view();
  await page.keyboard.press('d');
  await opened.until(`window.magicTrace.state.view.from > ${before.from}`);
  await page.keyboard.press('End');
  assert.equal((await view()).to, DURATION);
  await page.keyboard.press('Home');
  assert.equal((await view()).from, 0);
  await page.keyboard.press('ArrowRight');
  assert.ok((await view()).from > 0);
  await page.keyboard.press('0');
  assert.deepEqual(await view(), { from: 0, to: DURATION });
  await page.keyboard.press('/');
  await page.keyboard.type('wasd0');
  assert.deepEqual(await view(), { from: 0, to: DURATION });
  await page.keyboard.press('Escape');
});

test('arrows walk from the chosen span to its callee, neighbour and caller', async () => {
  const main = await wideSpan(0);
  await ask(`state.setSpan({ track: 0, depth: 0, start: ${main.start}, end: ${main.end} })`);
  await page.locator('.overlay').focus();
  await page.keyboard.press('ArrowDown');
  await opened.until('window.magicTrace.state.span.depth === 1');
  const first = await ask('state.span');
  await page.keyboard.press('ArrowRight');
  await opened.until(`window.magicTrace.state.span.start >= ${first.end}`);
  await page.keyboard.press('ArrowLeft');
  await opened.until(`window.magicTrace.state.span.start === ${first.start}`);
  await page.keyboard.press('ArrowUp');
  await opened.until('window.magicTrace.state.span.depth === 0');
  await page.keyboard.press('f');
  assert.ok((await ask('state.view.from')) <= main.start);
  await page.keyboard.press('Escape');
  assert.equal(await ask('state.span'), null);
});

test('tracks and processes fold, also by the keyboard, and the focus stays', async () => {
  const fold = page.getByRole('button', { name: 'Fold thread main 100' });
  await fold.focus();
  await page.keyboard.press('Enter');
  assert.ok(await ask('state.folded.has(0)'));
  const unfold = page.getByRole('button', { name: 'Unfold thread main 100' });
  await unfold.waitFor();
  assert.ok(await unfold.evaluate((/** @type {Element} */ node) => node === document.activeElement));
  await page.getByRole('button', { name: 'Fold process server 100' }).click();
  assert.ok(await ask('state.folded.has(1) && state.folded.has(2)'));
  await settled();
  await opened.picture('timeline-folded');
  await ask('state.setSpan({ track: 0, depth: 9, start: 0, end: 1 })');
  await opened.until('!window.magicTrace.state.folded.has(0)');
});

test('the minimap moves the view and changes its edges', async () => {
  await ask('state.setView({ from: 10e6, to: 20e6 })');
  const { x, y, width } = await page.locator('.minimap').boundingBox();
  const drag = async (/** @type {number} */ from, /** @type {number} */ to) => {
    await page.mouse.move(x + (width * from) / DURATION, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + (width * to) / DURATION, y + 20, { steps: 4 });
    await page.mouse.up();
    return ask('state.view');
  };
  const moved = await drag(15e6, 20e6);
  assert.ok(Math.abs(moved.from - 15e6) < 1e5 && Math.abs(moved.to - 25e6) < 1e5);
  const widened = await drag(moved.to, 40e6);
  assert.ok(Math.abs(widened.from - 15e6) < 1e5 && Math.abs(widened.to - 40e6) < 1e5);
});

test('marks and hits are described under the pointer', async () => {
  const { x, y, width } = await box();
  await page.mouse.move(x + width * 0.3, y + HEAD.marks);
  await opened.until("document.querySelector('.tooltip').textContent.includes('[lost]')");
  await page.mouse.move(x + width * 0.5, y + HEAD.marks);
  await opened.until("document.querySelector('.tooltip').textContent.includes('hit serve_request (1)')");
});

test('the link to a view brings it back', async () => {
  await ask('state.setView({ from: 1e6, to: 2e6 })');
  await ask('state.setSelection({ from: 1.2e6, to: 1.3e6 }, [0])');
  await ask("state.setTheme('dark')");
  await opened.until("location.hash.includes('theme=dark')");
  const link = await page.evaluate('location.hash');
  const length = await page.evaluate('history.length');
  const other = await openPage({ trace: makeTrace({ duration: DURATION }), fragment: link });
  assert.deepEqual(await other.page.evaluate('magicTrace.state.view'), { from: 1e6, to: 2e6 });
  assert.deepEqual(await other.page.evaluate('magicTrace.state.selection'), { range: { from: 1.2e6, to: 1.3e6 }, tracks: [0] });
  assert.equal(await other.page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  await other.picture('timeline-dark');
  await other.close();
  await ask("state.setTheme('system')");
  await opened.until("!location.hash.includes('theme=dark')");
  assert.equal(await page.evaluate('history.length'), length, 'only a zoom is an entry of the history');
});

test('Back and Alt-Left undo a zoom, however it was made', async () => {
  const whole = { from: 0, to: DURATION };
  await opened.until("!location.hash.includes('view=')");
  const zooms = [{ from: 10e6, to: 20e6 }, { from: 12e6, to: 13e6 }];
  for (const { from, to } of zooms) {
    await ask(`state.setView({ from: ${from}, to: ${to} })`);
    await opened.until(`location.hash.includes('view=${from}-${to}')`);
  }
  // A move belongs to the zoom before it.
  await ask('state.setView({ from: 13e6, to: 14e6 })');
  await opened.until("location.hash.includes('view=13000000-14000000')");
  await page.goBack();
  await opened.until('window.magicTrace.state.view.from === 10e6');
  assert.deepEqual(await ask('state.view'), zooms[0]);
  await page.keyboard.press('Alt+ArrowLeft');
  await opened.until('window.magicTrace.state.view.from === 0');
  assert.deepEqual(await ask('state.view'), whole);
  await page.goForward();
  await opened.until('window.magicTrace.state.view.from === 10e6');
  assert.deepEqual(await ask('state.view'), zooms[0]);
});

test('what is searched for stands out', async () => {
  const pixels = () => page.evaluate("document.querySelector('canvas.tracks').toDataURL()");
  const plain = await pixels();
  await ask("state.setSearch({ text: 'render', group: 3 })");
  await settled();
  assert.notEqual(await pixels(), plain);
  await opened.picture('timeline-search');
});

test('thousands of tracks and deep stacks cost what is seen of them', async () => {
  for (const [tracks, depth] of [[3000, 8], [2, 50000]]) {
    const tall = await openPage({ trace: makeTallTrace({ tracks, depth }), width: 1200, height: 800 });
    const { page: own } = tall;
    const idle = 'window.magicTrace.timeline.facts.missing === 0 && window.magicTrace.timeline.isIdle';
    await own.evaluate('magicTrace.info.tracks.forEach(({ id }) => magicTrace.state.setTall(id, true))');
    await tall.until(idle);
    assert.ok((await own.locator('.names .row').count()) < 60);
    const { requests } = await own.evaluate('magicTrace.timeline.facts');
    assert.ok(requests < 120, `${requests} requests`);
    await own.evaluate("document.querySelector('.scrollbar').scrollTop = 1e9");
    await tall.until('window.magicTrace.timeline.facts.scroll > 10000');
    await tall.until(idle);
    const lowest = await own.evaluate('Math.max(...magicTrace.timeline.drawn().map((tile) => tile.depth))');
    assert.equal(lowest, depth - 1, 'the last row is reached');
    assert.ok((await own.evaluate('magicTrace.timeline.facts.requests')) < 300);
    await tall.close();
  }
});

test('traces with nothing in them, or damaged, or of a single moment', async () => {
  const empty = { ...makeTrace({ threads: 1, spans: 1 }), tracks: [], counters: [], marks: [], hits: [], duration: 0, damage: 'the end is missing <at 17>' };
  const [track] = makeTrace({ threads: 1 }).tracks;
  const moment = { ...empty, damage: null, tracks: [{ ...track, spans: 2, columns: packSpans([{ depth: 0, start: 0, end: 0, function: 0 }, { depth: 1, start: 0, end: 0, function: 1 }]) }] };
  for (const trace of [empty, moment]) {
    const own = await openPage({ trace });
    await own.until('window.magicTrace.timeline.isIdle && window.magicTrace.timeline.facts.missing === 0');
    const { x, y } = await own.page.locator('.overlay').boundingBox();
    await own.page.mouse.click(x + 2, y + 80);
    for (const key of ['w', 's', 'a', 'd', 'Home', 'End', '0', 'f', 'c', 'ArrowDown', 'ArrowRight', 'PageDown']) await own.page.keyboard.press(key);
    await own.until('window.magicTrace.timeline.isIdle');
    assert.equal(await own.page.locator('#notice').isVisible(), trace.damage !== null);
    if (trace.damage) assert.match(await own.page.locator('#notice').innerText(), /damaged.*<at 17>/);
    else assert.equal(await own.page.evaluate('magicTrace.timeline.drawn().length'), 2);
    await own.close();
  }
});

test('two hundred threads: found, pinned, sorted, and each with its own name in reach of the keyboard', async () => {
  const many = makeTallTrace({ tracks: 200, depth: 30 });
  many.tracks.forEach((track, i) => {
    const [first, second] = [[0, 1e9], [100, 1e9 - 100]].map(([start, end], depth) => ({ depth, start, end, function: depth }));
    if (i !== 150) Object.assign(track, { spans: 2, columns: packSpans([first, second]) });
    track.thread = `a worker of the pool that has a name which takes more than two lines of the page, and a number: ${i}`;
  });
  const own = await openPage({ trace: many, fragment: '#panel=none', width: 1200, height: 1000 });
  const { page: tracks } = own;
  const rows = () => tracks.locator('.names .row.track').count();
  const shown = () => tracks.evaluate("[...document.querySelectorAll('.names .row.track .number')].map((node) => Number(node.textContent))");
  await own.until('window.magicTrace.timeline.isIdle && window.magicTrace.timeline.facts.missing === 0');
  assert.ok((await rows()) >= 3, 'several tracks have room beside each other');
  const { height, lineHeight } = await tracks.evaluate(`(() => {
    const name = document.querySelector('.row.track .words');
    return { height: name.offsetHeight, lineHeight: parseFloat(getComputedStyle(name).lineHeight) };
  })()`);
  assert.ok(height <= 2 * lineHeight + 1, 'a long name takes two lines');
  await own.picture('timeline-many-threads');
  await tracks.getByRole('combobox', { name: 'Order of the tracks' }).selectOption('activity');
  await own.until("document.querySelector('.row.process .number').textContent === '102'");
  assert.ok((await shown()).includes(250), 'the busiest comes first');
  await tracks.getByRole('button', { name: /more of .* 250$/ }).focus();
  await tracks.keyboard.press('Enter');
  assert.ok(await tracks.evaluate('magicTrace.state.tall.has(150)'));
  await tracks.getByRole('combobox', { name: 'Order of the tracks' }).selectOption('start');
  await tracks.getByRole('searchbox', { name: 'Find tracks' }).fill('number: 17');
  await own.until("document.querySelectorAll('.names .row.track').length === 11");
  await tracks.getByRole('button', { name: /^Pin .* 275$/ }).focus();
  await tracks.keyboard.press('Enter');
  await own.until("document.querySelector('.names .row.process .words').textContent === 'Pinned'");
  await tracks.getByRole('searchbox', { name: 'Find tracks' }).fill('');
  await own.until("location.hash.includes('pinned=175') && !location.hash.includes('tracks=')");
  assert.ok((await shown()).includes(275), 'what is pinned is in sight, whatever else is');
  await own.picture('timeline-pinned');
  await tracks.getByRole('searchbox', { name: 'Find tracks' }).fill('nobody');
  await tracks.getByText('No track has that in its name.').waitFor();
  await tracks.evaluate('magicTrace.state.setSpan({ track: 3, depth: 1, start: 100, end: 1e9 - 100 })');
  await own.until("magicTrace.state.filter === '' && document.querySelectorAll('.names .row.track').length > 2");
  await own.close();
});

test('names of functions are written short on demand, and none takes more than two lines', async () => {
  const trace = makeTrace({ duration: DURATION });
  const long = `Cache<${'std::pair<unsigned long, std::string>, '.repeat(60)}int>::find(${'int, '.repeat(200)}char) const`;
  trace.functions[1] = [long, ...trace.functions[1].slice(1)];
  const own = await openPage({ trace, width: 1360, height: 800 });
  const { page: tracks } = own;
  await own.until('window.magicTrace.timeline.isIdle && window.magicTrace.timeline.facts.missing === 0');
  await tracks.evaluate(`(({ state, timeline }) => {
    const { track, depth, start, end } = timeline.drawn().find((tile) => tile.function === 1 && tile.spans === 1 && tile.track < 4);
    state.setPanel('details');
    state.setSpan({ track, depth, start, end });
  })(window.magicTrace)`);
  await tracks.locator('.panel-details h2').waitFor();
  const lines = (/** @type {string} */ selector) => tracks.evaluate(`(() => {
    const node = document.querySelector('${selector}');
    return node.offsetHeight / parseFloat(getComputedStyle(node).lineHeight);
  })()`);
  assert.ok((await lines('.panel-details h2')) < 2.1);
  await own.picture('names-long');
  const pixels = () => tracks.evaluate("document.querySelector('canvas.tracks').toDataURL()");
  const whole = await pixels();
  await tracks.getByRole('button', { name: 'Short names' }).focus();
  await tracks.keyboard.press('Enter');
  await own.until("document.querySelector('.panel-details h2').textContent === 'Cache<>::find'");
  assert.equal(await tracks.locator('.panel-details h2').getAttribute('title'), long, 'the whole name is at hand');
  await own.until('window.magicTrace.timeline.isIdle');
  assert.notEqual(await pixels(), whole, 'the names in the spans are short, too');
  await own.until("location.hash.includes('names=short')");
  for (const [panel, text] of [['functions', '.panel-functions'], ['calls', '.panel-calls h2']]) {
    if (panel === 'calls') await tracks.evaluate("magicTrace.state.setSearch({ text: 'x', group: 1 })");
    await tracks.evaluate(`magicTrace.state.setPanel('${panel}')`);
    await own.until(`document.querySelector('${text}').innerText.includes('Cache<>::find') && !document.querySelector('${text}').innerText.includes('std::pair')`);
  }
  await own.picture('names-short');
  await own.close();
});

test('a page that is enlarged to 200 % leaves room for tracks', async () => {
  const enlarged = await openPage({ trace: makeTrace({ duration: DURATION }), width: 680, height: 400, scale: 2 });
  await enlarged.until('window.magicTrace.timeline.isIdle && window.magicTrace.timeline.facts.missing === 0');
  const height = await enlarged.page.evaluate("document.querySelector('canvas.tracks').getBoundingClientRect().height");
  assert.ok(height >= 140, `${height} pixels of 400`);
  const { left, top, x, y } = await enlarged.page.evaluate(`(({ timeline }) => {
    const { left, top } = document.querySelector('.overlay').getBoundingClientRect();
    return { left, top, ...timeline.pointOf(0, 0, 25e6) };
  })(window.magicTrace)`);
  await enlarged.page.mouse.click(left + x, top + y);
  await enlarged.until('window.magicTrace.state.span?.depth === 0');
  assert.ok((await enlarged.page.evaluate("document.querySelector('.track-tools input').offsetWidth")) > 60);
  await enlarged.picture('timeline-200-percent');
  await enlarged.close();
});

test('a snapshot opens at its hit, and Back shows the whole', async () => {
  const trace = makeTrace({ duration: DURATION });
  const end = trace.hits[1].end;
  const { start } = trace.hits[1];
  trace.hits = [trace.hits[1]];
  const hits = trace.tracks[trace.tracks.length - 1];
  Object.assign(hits, { spans: 1, columns: packSpans([{ depth: 0, start, end, function: 1 }]) });
  const snapshot = await openPage({ trace });
  const { page: own } = snapshot;
  const { from, to } = await own.evaluate('magicTrace.state.view');
  assert.ok(from < end && to > end && to - from < DURATION / 10, `${from} to ${to}`);
  assert.deepEqual(await own.evaluate('magicTrace.state.span'), { track: trace.tracks.length - 1, depth: 0, start, end });
  await snapshot.until("location.hash.includes('view=')");
  await snapshot.picture('snapshot');
  await own.keyboard.press('Alt+ArrowLeft');
  await snapshot.until(`magicTrace.state.view.to - magicTrace.state.view.from === ${DURATION}`);
  await snapshot.close();
  const linked = await openPage({ trace, fragment: '#view=1000-2000' });
  assert.equal(await linked.page.evaluate('magicTrace.state.view.from'), 1000, 'a link decides itself');
  await linked.close();
});

test('arrows lead from where a stack was suspended to where it goes on', async () => {
  const trace = makeTallTrace({ tracks: 3, depth: 2, duration: 1000 });
  trace.switches = [[0, 200, 2, 400], [1, 500, 1, 700], [2, 800, 0, 800]];
  const own = await openPage({ trace, fragment: '#panel=none', width: 1200, height: 800 });
  const { page: shown } = own;
  const idle = 'window.magicTrace.timeline.isIdle && window.magicTrace.timeline.facts.missing === 0';
  await own.until(`${idle} && window.magicTrace.timeline.facts.arrows === 3`);
  await own.picture('arrows');
  // Just before the moment at which a stack goes on is the arrow's head, and later the call alone.
  const places = trace.switches.slice(0, 2).map(([, , track, time]) => `timeline.pointOf(${track}, 0, ${time})`);
  const colours = await shown.evaluate(`(({ timeline }) => {
    const canvas = document.querySelector('canvas.tracks');
    const top = canvas.getBoundingClientRect().top - document.querySelector('.overlay').getBoundingClientRect().top;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colour = (x, y) => [...data.slice(4 * (Math.round(y - top) * canvas.width + Math.round(x)), 4 * (Math.round(y - top) * canvas.width + Math.round(x)) + 3)];
    return [${places}].map(({ x, y }) => [colour(x - 2, y), colour(x + 30, y)]);
  })(window.magicTrace)`);
  for (const [head, call] of colours) assert.notDeepEqual(head, call);
  // What is not seen is not drawn.
  await shown.evaluate('window.magicTrace.state.setView({ from: 450, to: 600 })');
  await own.until(`${idle} && window.magicTrace.timeline.facts.arrows === 1`);
  await own.close();

  // Too many to be distinguished: none, until there are fewer in view.
  const many = withSwitches(makeTrace({ threads: 3, spans: 60_000, duration: DURATION }), 2000);
  const crowded = await openPage({ trace: many, fragment: '#panel=none', width: 1200, height: 800 });
  await crowded.until(`${idle}`);
  assert.equal(await crowded.page.evaluate('window.magicTrace.timeline.facts.arrows'), 0);
  const switches = many.switches ?? [];
  const [, , , time] = switches.slice(500).find(([, , track]) => track === 0) ?? [0, 0, 0, 0];
  // What lies beside the view is asked for, too.
  let width = 500_000;
  while (switches.filter(([, , , at]) => Math.abs(at - time) <= 3 * width).length > 200) width /= 2;
  await crowded.page.evaluate(`window.magicTrace.state.setView({ from: ${time - width}, to: ${time + width} })`);
  await crowded.until(`${idle} && window.magicTrace.timeline.facts.arrows > 0`);
  await crowded.picture('arrows-many');
  await crowded.close();
});

test('stacks have tracks of their own, below the threads in which they run', async () => {
  // Two threads run two stacks by turns; the first stack moves from one to the other.
  const trace = makeTallTrace({ tracks: 2, depth: 2, duration: 1000 });
  /** @param {[number, number, number][]} parts from, to, function */
  const spansOf = (parts) => parts.flatMap(([start, end, fn]) => [0, 1].map((depth) => ({ depth, start, end, function: fn + depth })));
  const first = spansOf([[0, 300, 1], [300, 500, 4], [900, 1000, 1]]);
  const second = spansOf([[500, 800, 1], [800, 1000, 4]]);
  trace.tracks[0] = { ...trace.tracks[0], spans: first.length, columns: packSpans(first) };
  trace.tracks[1] = { ...trace.tracks[1], spans: second.length, columns: packSpans(second) };
  trace.switches = [[0, 300, 1, 500], [0, 500, 1, 800], [1, 800, 0, 900]];
  trace.stacks = [{ name: 'render', pid: 100, depth: 2 }, { name: 'serve_request', pid: 100, depth: 2 }];
  trace.parts = [[1, 0, 0, 300], [0, 0, 300, 500], [1, 1, 500, 800], [0, 1, 800, 1000], [1, 0, 900, 1000]];
  const own = await openPage({ trace, fragment: '#panel=none', width: 1200, height: 800 });
  const { page: shown } = own;
  const idle = 'window.magicTrace.timeline.isIdle && window.magicTrace.timeline.facts.missing === 0';
  await own.until(`${idle} && document.querySelectorAll('.names .row.track').length === 4`);
  const names = await shown.locator('.names .row .words').allInnerTexts();
  assert.deepEqual(names.slice(-3), ['Goroutines and fibers', 'serve_request', 'render'], 'the busiest first');
  await own.picture('stacks');
  // Of each stack: what is drawn where it ran, and nothing where it did not.
  const moments = [[0, 400], [0, 150], [0, 650], [0, 950], [0, 350], [0, 850], [1, 600], [1, 400], [1, 850]];
  const colours = await shown.evaluate(`(({ timeline }) => {
    const canvas = document.querySelector('canvas.tracks');
    const top = canvas.getBoundingClientRect().top - document.querySelector('.overlay').getBoundingClientRect().top;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return ${JSON.stringify(moments)}.map(([stack, time]) => {
      const { x, y } = timeline.pointOf(2 ** 31 + stack, 0, time);
      const at = 4 * ((Math.round(y - top) + 6) * canvas.width + Math.round(x));
      return [...data.slice(at, at + 3)].join();
    });
  })(window.magicTrace)`);
  const [ground, ...others] = colours;
  assert.deepEqual(others.map((/** @type {string} */ colour) => colour === ground), [false, false, false, true, true, true, false, false], `${colours}`);
  // A click chooses the call in its thread, and the track stays where it is.
  const { scroll } = await shown.evaluate('window.magicTrace.timeline.facts');
  const { x, y } = await shown.evaluate('window.magicTrace.timeline.pointOf(2 ** 31, 1, 650)');
  const box = await shown.locator('.overlay').boundingBox();
  await shown.mouse.click(box.x + x, box.y + y);
  await own.until('window.magicTrace.state.span !== null');
  assert.deepEqual(await shown.evaluate('window.magicTrace.state.span'), { track: 1, depth: 1, start: 500, end: 800 });
  assert.equal((await shown.evaluate('window.magicTrace.timeline.facts')).scroll, scroll);
  // They are found, folded and pinned as threads are.
  await shown.locator('.track-tools input').fill('render');
  await own.until(`${idle} && document.querySelectorAll('.names .row.track').length === 1`);
  await shown.locator('.names .pin').click();
  await own.until("document.querySelector('.names .pin[aria-pressed=true]') !== null");
  await own.close();

  // Many switches in a pixel: a bar, until the view is narrow enough.
  const often = makeTallTrace({ tracks: 1, depth: 1, duration: 1e8 });
  const calls = Array.from({ length: 20000 }, (_, i) => ({ depth: 0, start: i * 5000, end: (i + 1) * 5000, function: 1 + 3 * (i % 2) }));
  often.tracks[0] = { ...often.tracks[0], spans: calls.length, columns: packSpans(calls) };
  often.stacks = [{ name: 'serve_request', pid: 100, depth: 1 }, { name: 'hash_lookup', pid: 100, depth: 1 }];
  often.parts = calls.map(({ start, end }, i) => [i % 2, 0, start, end]);
  often.switches = calls.slice(2).map(({ start }, i) => [0, (i + 1) * 5000, 0, start]);
  const busy = await openPage({ trace: often, fragment: '#panel=none', width: 1200, height: 600 });
  await busy.until(`${idle} && window.magicTrace.timeline.facts.bars > 0`);
  await busy.picture('stacks-many');
  await busy.page.evaluate('window.magicTrace.state.setView({ from: 50000000, to: 50100000 })');
  await busy.until(`${idle} && window.magicTrace.timeline.facts.bars === 0`);
  await busy.close();
});
