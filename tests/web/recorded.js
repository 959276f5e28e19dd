// A small program, recorded by magic-trace itself: a trace with source lines and hits of the trigger, of which the test knows
// what must be in it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BINARY } from './viewer.js';

export const LEAVES = 300;
export const BRANCHES = 30;

const PROGRAM = `static volatile int sum;

__attribute__((noinline)) static void leaf(int i)
{
    for (int k = 0; k < i; k++)
        sum += k;
}

__attribute__((noinline)) static void branch(int i)
{
    for (int k = 0; k < ${LEAVES / BRANCHES}; k++)
        leaf(2 * i);
    sum++;
}

int main(void)
{
    for (int i = 0; i < ${BRANCHES}; i++)
        branch(i);
    return 0;
}
`;

const COUNTED = `__attribute__((noinline)) static int even(int i)
{
    return i / 2;
}

__attribute__((noinline)) static int odd(int i)
{
    return 3 * i + 1;
}

__attribute__((noinline)) static int steps(int i)
{
    int count = 0;
    while (i > 1) {
        if (i < 0)
            return -1;
        i = i % 2 ? odd(i) : even(i);
        count++;
    }
    return count;
}

int main(void)
{
    volatile int sum = 0;
    sum += steps(6);
    sum += steps(27);
    return 0;
}
`;

/**
 * A recording, not a trace: how often the program's lines ran is known.
 * @returns {{recording: string, source: string, close: () => void}} source: the program's text
 */
export function recordCounted() {
  const folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  const [source, program, recording] = ['program.c', 'program', 'recording'].map((name) => path.join(folder, name));
  writeFileSync(source, COUNTED);
  execFileSync('cc', ['-g', '-O0', '-o', program, source]);
  const options = ['-engine', 'translator', '-full-execution', '-no-decode', '-working-directory', recording];
  execFileSync(/** @type {string} */ (BINARY), ['run', ...options, program], { stdio: 'pipe' });
  return { recording, source: COUNTED, close: () => rmSync(folder, { recursive: true }) };
}

/** @returns {{trace: Buffer, source: string, close: () => void}} source: path of the program's text */
export function recordProgram() {
  const folder = mkdtempSync(path.join(tmpdir(), 'magic-trace-web-'));
  const [source, program, trace] = ['program.c', 'program', 'trace.fxt'].map((name) => path.join(folder, name));
  writeFileSync(source, PROGRAM);
  execFileSync('cc', ['-g', '-O1', '-fno-optimize-sibling-calls', '-o', program, source]);
  const options = ['-full-execution', '-multi-snapshot', '-trigger', 'branch', '-clock', 'instructions', '-o', trace];
  execFileSync(/** @type {string} */ (BINARY), ['run', ...options, program], { stdio: 'pipe' });
  return { trace: readFileSync(trace), source, close: () => rmSync(folder, { recursive: true }) };
}
