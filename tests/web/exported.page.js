// A page that `magic-trace export -format html` wrote, opened from its file as from a ticket: with no server and no network.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openPage } from './page.js';
import { BINARY } from './viewer.js';

const SOURCE = fileURLToPath(new URL('../programs/recursion.c', import.meta.url));

/**
 * Records a program and exports a part of it. @param {string} folder @param {string[]} options
 * @returns {string} the page
 */
function exportPage(folder, ...options) {
  if (BINARY === null) throw new Error('MAGIC_TRACE_BINARY names no program');
  const [program, trace, page] = ['recursion', 'trace.fxt', 'page.html'].map((name) => path.join(folder, name));
  const quiet = /** @type {const} */ ({ stdio: 'pipe' });
  execFileSync('gcc', ['-O0', '-g', '-o', program, SOURCE], quiet);
  execFileSync(BINARY, ['run', '-output', trace, '--', program], quiet);
  execFileSync(BINARY, ['export', '-format', 'html', '-output', page, ...options, trace], quiet);
  return page;
}

test('an exported page is a viewer of its own', { skip: BINARY === null && 'no binary was given' }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  try {
    const file = exportPage(folder, '-from', 'fib#1', '-to', 'fib#1');
    const opened = await openPage({ url: pathToFileURL(file).href, fragment: '#panel=functions' });
    const { page, until } = opened;
    /** @type {string[]} */
    const requests = [];
    page.on('request', (/** @type {any} */ request) => requests.push(request.url()));
    await until('window.magicTrace.timeline.facts.missing === 0 && window.magicTrace.timeline.isIdle');
    const shown = await page.evaluate(`(async () => {
      const { info, source, timeline } = window.magicTrace;
      const functions = await source.functions();
      const fib = functions.find(({ name }) => name === 'fib');
      return { spans: info.spans, tiles: timeline.facts.tiles, calls: fib.calls, title: document.title };
    })()`);
    assert.equal(shown.calls, 21891); // of fib(20), all of them
    assert.ok(shown.spans > shown.calls, 'the callers of fib are shown too');
    assert.ok(shown.tiles > 10);
    assert.equal(shown.title, 'trace - magic-trace');
    // What is not on this page is not let in, even if something on it asked.
    const refused = await page.evaluate(`Promise.all([
      fetch('https://example.org/').then(() => 'fetched', () => 'refused'),
      new Promise((resolve) => {
        const script = document.createElement('script');
        script.textContent = 'window.injected = true';
        document.body.append(script);
        resolve(window.injected ? 'ran' : 'refused');
      }),
    ])`);
    assert.deepEqual(refused, ['refused', 'refused']);
    const complaints = opened.complaints.splice(0).filter((words) => !/Content Security Policy|Fetch API cannot load/.test(words));
    assert.deepEqual(complaints, []);
    assert.deepEqual(requests.filter((url) => !url.startsWith('data:') && !url.startsWith('https://example.org/')), []);
    await opened.picture('exported');
    await opened.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
