// The program of `make demo`, recorded by magic-trace, and the view of it that README shows.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BINARY } from './viewer.js';

const DEMO = fileURLToPath(new URL('../../demo/', import.meta.url));

/** @returns {Buffer} the trace */
export function recordDemo() {
  const folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  const [library, program, trace] = ['libprimes.so', 'program', 'trace.fxt'].map((name) => path.join(folder, name));
  const compile = ['-O1', '-g', '-fno-inline', `-ffile-prefix-map=${DEMO}=/home/you/magic-trace/demo/`];
  execFileSync('gcc', [...compile, '-fPIC', '-shared', '-o', library, path.join(DEMO, 'library.c')]);
  execFileSync('gcc', [...compile, '-o', program, path.join(DEMO, 'program.c'), '-ldl']);
  execFileSync(/** @type {string} */ (BINARY), ['run', '-full-execution', '-o', trace, program, library], { stdio: 'pipe' });
  const content = readFileSync(trace);
  rmSync(folder, { recursive: true });
  return content;
}

/**
 * Shows the first of the two calls of `ask`, and in it the call of next_prime, with its details.
 * @param {Awaited<ReturnType<typeof import('./page.js').openPage>>} opened
 */
export async function showFirstCall({ page, until, drawn }) {
  /** @type {(path: string) => Promise<any>} */
  const ask = (path) => page.evaluate(`fetch('api/${path}').then((answer) => answer.json())`);
  /** @type {{functions: [string, number][]}} */
  const { functions } = await ask('functions');
  /** @type {(name: string) => Promise<{track: number, depth: number, start: number, end: number}[]>} */
  const callsOf = async (name) => {
    const [, group] = functions.find(([known]) => known === name) ?? [name, -1];
    return (await ask(`calls?group=${group}&slowest=10`)).slowest.sort((/** @type {any} */ a, /** @type {any} */ b) => a.start - b.start);
  };
  const [[first, second], [{ track, depth, start, end }]] = [await callsOf('ask'), await callsOf('next_prime')];
  const margin = Math.round((first.end - first.start) / 12);
  await page.evaluate(`(({ state }) => {
    state.setTheme('light');
    state.setView({ from: ${first.start - margin}, to: ${second.end + margin} });
    state.setSpan({ track: ${track}, depth: ${depth}, start: ${start}, end: ${end} });
    state.setPanel('details');
  })(window.magicTrace)`);
  await drawn();
  await until('window.magicTrace.timeline.facts.missing === 0 && window.magicTrace.timeline.isIdle');
  await drawn();
}
