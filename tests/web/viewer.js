// `magic-trace view` on a trace, for tests: its address, and its end.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The program under test; null when only the page is tested. */
export const BINARY = process.env.MAGIC_TRACE_BINARY ?? null;

/**
 * @param {Buffer} content of the trace file @param {string[]} [options] of `view`
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function viewTrace(content, options = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  const trace = path.join(folder, 'trace.fxt');
  writeFileSync(trace, content);
  const { url, close } = await viewPath(trace, options);
  return {
    url,
    async close() {
      await close();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * @param {string} trace or recording @param {string[]} [options] of `view`
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function viewPath(trace, options = []) {
  if (BINARY === null) throw new Error('MAGIC_TRACE_BINARY names no program');
  const viewer = spawn(BINARY, ['view', '-no-browser', ...options, trace], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => viewer.on('exit', resolve));
  let printed = '';
  /** @type {Promise<string>} */
  const address = new Promise((resolve, reject) => {
    for (const stream of [viewer.stdout, viewer.stderr])
      stream.on('data', (data) => {
        printed += data;
        const match = /http:\/\/[^\s]+/.exec(printed);
        if (match) resolve(match[0]);
      });
    ended.then((status) => reject(new Error(`magic-trace view ended with ${status}: ${printed}`)));
  });
  return {
    url: await address,
    async close() {
      viewer.kill('SIGINT');
      await ended;
    },
  };
}
