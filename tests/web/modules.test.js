// The forms of import and export that docs/viewer.md section 4 promises to who puts all modules into one file.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const WEB = fileURLToPath(new URL('../../web/', import.meta.url));
const IMPORT = /^import \{([^}]*)\} from '(\.{1,2}\/[\w./]+\.js)';$/;

const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));

/** Statements that begin with a word, each in one line. @param {string} text @param {string} word */
function statements(text, word) {
  return [...text.matchAll(new RegExp(`^${word}\\b[^;{]*(\\{[^}]*\\}[^;]*;|[^;]*;)`, 'gm'))].map(([found]) => found.replace(/\s+/g, ' '));
}

/** @param {string} file */
function importsOf(file) {
  const text = readFileSync(path.join(WEB, file), 'utf8');
  return statements(text, 'import').map((statement) => {
    const match = IMPORT.exec(statement);
    assert.ok(match, `${file}: ${statement}`);
    assert.ok(!/ as /.test(match[1]), `${file}: ${statement}`);
    return path.join(path.dirname(file), match[2]);
  });
}

test('imports name what they take, of modules that are here', () => {
  for (const file of files) for (const other of importsOf(file)) assert.ok(files.includes(other), `${file} imports ${other}`);
});

test('exports are declarations', () => {
  for (const file of files) {
    const text = readFileSync(path.join(WEB, file), 'utf8');
    for (const [line] of text.matchAll(/^export.*$/gm))
      assert.match(line, /^export (async )?(function\*?|class|const) \w+/, `${file}: ${line}`);
    assert.ok(!/import\.meta|\bimport\(/.test(text.replace(/\/\*[\s\S]*?\*\//g, '')), `${file} asks where it is, or imports later`);
  }
});

test('no two modules import each other', () => {
  /** @type {Set<string>} */
  const done = new Set();
  /** @param {string} file @param {string[]} trail */
  const visit = (file, trail) => {
    assert.ok(!trail.includes(file), [...trail, file].join(' imports '));
    if (done.has(file)) return;
    for (const other of importsOf(file)) visit(other, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

test('nothing sets styles or runs code from text, which the Content-Security-Policy refuses', () => {
  for (const file of files) {
    const text = readFileSync(path.join(WEB, file), 'utf8');
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function\(|setAttribute\('style'/.test(text), file);
  }
});
