// The toolbar takes one line of the page, where there is room for its controls, whatever is chosen; all of them can be used.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage } from './page.js';
import { makeTrace } from './traces.js';

const trace = { ...makeTrace(), name: 'a-recording-of-the-server-with-a-long-name.fxt.gz' };

/** Runs in the page: how high the toolbar is against its highest control, and which controls are cut off, or lie over others. */
const LOOK = `(() => {
  const toolbar = document.querySelector('#toolbar');
  const style = getComputedStyle(toolbar);
  const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  const controls = [...toolbar.querySelectorAll('button, input, select')].filter((control) => control.offsetParent !== null);
  const boxes = controls.map((control) => control.getBoundingClientRect());
  const edge = toolbar.getBoundingClientRect();
  const wrong = controls.filter((_, i) => boxes[i].right > edge.right || boxes[i].left < edge.left ||
    boxes.some((other, j) => j !== i && other.left < boxes[i].right - 1 && boxes[i].left < other.right - 1 &&
      other.top < boxes[i].bottom - 1 && boxes[i].top < other.bottom - 1));
  return {
    lines: (toolbar.clientHeight - padding) / Math.max(...boxes.map((box) => box.height)),
    wrong: wrong.map((control) => control.getAttribute('aria-label') ?? control.textContent),
    search: toolbar.querySelector('.search input').getBoundingClientRect().width,
    chosen: toolbar.querySelector('.search-where').textContent,
  };
})()`;

for (const [width, mostLines] of [[1360, 1], [1920, 1], [1200, 2]])
  test(`at ${width} pixels`, async () => {
    const opened = await openPage({ trace, width, height: 800 });
    const { page } = opened;
    await page.evaluate(`(({ state }) => state.setSearch({ text: 'malloc', group: 7 }))(window.magicTrace)`);
    await page.getByRole('button', { name: 'Next call' }).click();
    await opened.until("document.querySelector('.search-where').textContent.includes(' of ')");
    const isWhole = await page.evaluate(`(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.search-where'))`);
    // As of a large trace, and with the button that a page with a server has.
    await page.evaluate(`(() => {
      document.querySelector('.search-where').textContent = '123,456 of 1,234,567';
      document.querySelector('#toolbar-panels').append(Object.assign(document.createElement('button'), { textContent: 'Perfetto' }));
    })()`);
    await opened.picture(`toolbar-${width}`);
    const { lines, wrong, search, chosen } = await page.evaluate(LOOK);
    await opened.close();
    assert.ok(lines < mostLines + 0.3, `${lines} lines`);
    assert.ok(isWhole, 'the place among a few calls is whole');
    assert.deepEqual(wrong, []);
    assert.ok(search >= 120, `the search box has ${search} pixels beside "${chosen}"`);
  });
