// What people need who use the page without a mouse, without seeing it well, or without seeing it: contrast of all text, names
// of all controls, an order of tabs that reaches everything, in both themes and with every panel.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage } from './page.js';
import { makeTrace, withPauses } from './traces.js';

const CONTRAST = 4.5; // WCAG 2.2, success criterion 1.4.3, level AA
const PANELS = ['details', 'calls', 'functions', 'flame', 'source', 'marks', 'flags', 'counters'];

/** @type {Awaited<ReturnType<typeof openPage>>} */
let opened;
/** @type {any} */
let page;

before(async () => {
  opened = await openPage({ trace: withPauses(makeTrace()) });
  page = opened.page;
  await page.evaluate(`(({ state, info }) => {
    state.setSpan({ track: 0, depth: 0, start: info.tracks[0].first, end: info.tracks[0].last });
    state.setSelection({ from: 1e6, to: 40e6 });
    state.setFlags([{ time: 2e6, text: 'here' }]);
    state.setSearch({ text: 'malloc', group: 7 });
  })(window.magicTrace)`);
});
after(() => opened.close());

/** Runs in the page: texts whose contrast with their background is too low. */
function lowContrast(/** @type {number} */ least) {
  /** @param {string} text @returns {number[]} */
  const parse = (text) => {
    const [red, green, blue, alpha = 1] = (text.match(/[\d.]+/g) ?? ['0', '0', '0', '0']).map(Number);
    return [red, green, blue, alpha];
  };
  /** @param {number[]} top @param {number[]} below */
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  /** @param {Element | null} element @returns {number[]} */
  const groundOf = (element) => {
    if (element === null) return [255, 255, 255];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, groundOf(element.parentElement));
  };
  /** Relative luminance. @param {number[]} colour */
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element === null || (node.textContent ?? '').trim() === '' || !element.checkVisibility() || element.closest(':disabled, script, noscript')) continue;
    const style = getComputedStyle(element);
    const ground = groundOf(element);
    const [a, b] = [luminance(over(parse(element instanceof SVGElement ? style.fill : style.color), ground)), luminance(ground)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least) low.push(`${contrast.toFixed(2)}: "${(node.textContent ?? '').slice(0, 40)}" in ${element.tagName}.${element.className}`);
  }
  return low;
}

/** Runs in the page: controls without a name, ids given twice, tab indexes that jump ahead. */
function nameless() {
  const wrong = [];
  const controls = document.querySelectorAll('button, input, select, textarea, canvas[tabindex], [role=option], [role=tab], [role=listitem], [tabindex]');
  for (const control of controls) {
    if (!control.checkVisibility() || control.closest('[aria-hidden=true]')) continue;
    const labels = control instanceof HTMLInputElement || control instanceof HTMLSelectElement ? control.labels?.length ?? 0 : 0;
    const name = control.getAttribute('aria-label') ?? control.getAttribute('aria-labelledby') ?? control.textContent?.trim() ?? '';
    if (name === '' && labels === 0) wrong.push(`no name: ${control.outerHTML.slice(0, 80)}`);
    if (control instanceof HTMLElement && control.tabIndex > 0) wrong.push(`tabindex: ${control.outerHTML.slice(0, 80)}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) wrong.push(`id twice: ${id}`);
  return wrong;
}

for (const theme of ['light', 'dark']) {
  test(`contrast and names with every panel, ${theme}`, async () => {
    await page.evaluate(`window.magicTrace.state.setTheme('${theme}')`);
    const wrong = [];
    for (const panel of PANELS) {
      await page.evaluate(`window.magicTrace.state.setPanel('${panel}')`);
      await opened.drawn();
      await opened.picture(`${theme}-${panel}`);
      for (const words of [...(await page.evaluate(lowContrast, CONTRAST)), ...(await page.evaluate(nameless))]) wrong.push(`${panel}: ${words}`);
    }
    await page.evaluate('document.activeElement?.blur()');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    wrong.push(...(await page.evaluate(lowContrast, CONTRAST)));
    await opened.picture(`${theme}-help`);
    await page.keyboard.press('Escape');
    await opened.until('document.querySelector("dialog") === null');
    await page.keyboard.press('/');
    await page.keyboard.type('m');
    await page.locator('#search-matches [role=option]').first().waitFor();
    wrong.push(...(await page.evaluate(lowContrast, CONTRAST)), ...(await page.evaluate(nameless)));
    await opened.picture(`${theme}-search`);
    await page.keyboard.press('Escape');
    await page.evaluate("window.magicTrace.state.setSearch({ text: 'malloc', group: 7 })");
    assert.deepEqual(wrong, []);
  });
}

test('Tab reaches toolbar, timeline, splitter, tabs and panel, and comes around', async () => {
  await page.evaluate("window.magicTrace.state.setPanel('functions'); document.activeElement?.blur()");
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate(`(() => {
      const at = document.activeElement;
      return at?.closest('#toolbar, #timeline, #splitter, .selection-bar, [role=tablist], .panel-functions tbody, .panel-functions')?.id ||
        at?.closest('.selection-bar, [role=tablist], tbody, .panel')?.className || at?.getAttribute('role') || at?.tagName;
    })()`));
  }
  for (const place of ['toolbar', 'timeline', 'splitter', 'selection-bar']) assert.ok(seen.has(place), `${place} in ${[...seen]}`);
  await page.locator('.panel-functions tbody button[tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  const name = await page.evaluate('document.activeElement.textContent');
  await page.keyboard.press('Enter');
  await opened.until("window.magicTrace.state.panel === 'calls'");
  assert.equal((await page.locator('.panel-calls h2').innerText()), name);
});
