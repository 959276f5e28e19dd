// A page of the viewer in a headless browser, for tests that click through it.
//
// Needs chromium-headless-shell (Debian) and playwright-core (npm), which is looked for in the folder that MAGIC_TRACE_NPM names.
// MAGIC_TRACE_SCREENSHOTS names a folder for pictures, to be looked at by eye.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { servePage } from './serve.js';

const BROWSER = process.env.MAGIC_TRACE_BROWSER ?? '/usr/bin/chromium-headless-shell';

/** @returns {any} playwright-core's chromium */
function chromium() {
  const require = createRequire(path.join(process.env.MAGIC_TRACE_NPM ?? process.cwd(), 'package.json'));
  return require('playwright-core').chromium;
}

/**
 * Opens the page; every complaint of the browser is a failure when it is closed.
 * @param {{trace?: unknown, url?: string, fragment?: string, permissions?: string[], width?: number, height?: number,
 *   scale?: number, waits?: boolean}} what a trace that the page carries in itself, or the URL of a real server; scale: device pixels
 *   of a CSS pixel; waits: false when the page is no viewer yet
 */
export async function openPage({ trace, url, fragment = '', permissions = [], width = 1360, height = 800, scale = 1, waits = true }) {
  const server = url === undefined ? await servePage(trace) : null;
  const browser = await chromium().launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, permissions });
  const page = await context.newPage();
  page.setDefaultTimeout(0); // tests/watchdog.py, which runs the tests, gives up what makes no progress
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (/** @type {any} */ message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (/** @type {Error} */ error) => complaints.push(error.stack ?? error.message));
  await page.goto((url ?? server?.url) + fragment);
  const opened = {
    page,
    complaints,
    /**
     * Waits until an expression holds: until then, elements that it looks at need not be there. (playwright's own
     * waitForFunction needs eval, which the page's policy refuses.)
     * @param {string} expression
     */
    async until(expression) {
      const holds = `(() => { try { return (${expression}); } catch (error) { if (error instanceof TypeError) return false; throw error; } })()`;
      while (!(await page.evaluate(holds))) await page.waitForTimeout(50);
    },
    /** Waits until the page had so many occasions to draw, and its transitions are over. */
    async drawn(frames = 20) {
      await page.evaluate(`(async () => {
        for (let i = 0; i < ${frames}; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
        await Promise.all(document.getAnimations().map((animation) => animation.finished));
      })()`);
    },
    /** @param {string} name */
    async picture(name) {
      const folder = process.env.MAGIC_TRACE_SCREENSHOTS;
      if (folder) await page.screenshot({ path: path.join(folder, `${name}.png`) });
    },
    async close() {
      await browser.close();
      server?.close();
      assert.deepEqual(complaints, [], 'the browser complained');
    },
  };
  if (waits) await opened.until('window.magicTrace !== undefined');
  return opened;
}
