// Colours carry meaning, for those too who see hues less well: checked by the simulation of Machado, Oliveira and Fernandes ("A
// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1) and distances in OKLab.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { moduleOf } from '../../web/data/function_module.js';
import { heatColour, heatOf, makePaint } from '../../web/timeline/colouring.js';
import { colourOf, DARK, familyColour, familyOf, hash, LIGHT, makePalette, mix, pixel } from '../../web/timeline/colours.js';

/** @typedef {import('../../web/timeline/colours.js').Rgb} Rgb */

const VISIONS = /** @type {Record<string, number[][]>} */ ({
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
});
const ORIGINS = /** @type {const} */ (['own', 'library', 'kernel', 'inlined', 'special']);
const THEMES = { light: LIGHT, dark: DARK };
const NOTICEABLE = 0.06; // OKLab; about three just noticeable differences
const PLAIN_APART = 0.12; // for families without a pattern

/** @param {number} value of sRGB */
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** @param {Rgb} colour @param {number[][]} vision linear RGB as it is seen */
function seen(colour, vision) {
  const rgb = colour.map(linear);
  return vision.map((row) => Math.min(Math.max(row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2], 0), 1));
}

/** @param {number[]} rgb linear */
function oklab([red, green, blue]) {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {Rgb} a @param {Rgb} b @param {number[][]} vision */
function distance(a, b, vision) {
  const [one, other] = [oklab(seen(a, vision)), oklab(seen(b, vision))];
  return Math.hypot(...one.map((value, i) => value - other[i]));
}

/** @param {Rgb} a @param {Rgb} b WCAG's */
function contrast(a, b) {
  const [low, high] = [a, b].map((colour) => {
    const [red, green, blue] = colour.map(linear);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }).sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** @param {string} name @param {import('../../web/data/source.js').FunctionInfo['colour']} colour */
const fn = (name, colour) => ({ name, colour, group: 0, calls: 1, module: '' });

test('families can be distinguished by every kind of sight, by colour or by pattern', () => {
  for (const [themeName, theme] of Object.entries(THEMES))
    for (const [visionName, vision] of Object.entries(VISIONS))
      for (const a of ORIGINS)
        for (const b of ORIGINS) {
          if (a >= b) continue;
          const away = distance(familyColour(a, theme), familyColour(b, theme), vision);
          const patterned = familyOf(fn('f', a)).pattern !== familyOf(fn('f', b)).pattern;
          const least = patterned ? NOTICEABLE : PLAIN_APART;
          assert.ok(away >= least, `${themeName}, ${visionName}: ${a} and ${b} are ${away.toFixed(3)} apart`);
        }
});

test('what has no pattern of its own has a hue of its own', () => {
  const patterns = ORIGINS.map((origin) => familyOf(fn('f', origin)).pattern);
  assert.equal(new Set(patterns).size, 4); // own and library share the plain one
  for (const theme of Object.values(THEMES))
    for (const vision of Object.values(VISIONS))
      for (let i = 0; i < 20; i++)
        for (let j = 0; j < 20; j++) {
          const away = distance(colourOf(fn(`own${i}`, 'own'), theme), colourOf(fn(`lib${j}`, 'library'), theme), vision);
          assert.ok(away >= NOTICEABLE, `${away}`);
        }
});

/** A custom property's colours, light and dark. @param {string} name */
function fromCss(name) {
  const css = readFileSync(new URL('../../web/style.css', import.meta.url), 'utf8');
  const found = [...css.matchAll(new RegExp(`--${name}: #([0-9a-f]{6})`, 'g'))].map(([, hex]) => hex);
  assert.equal(found.length, 3, 'light, dark by the system, dark by choice');
  assert.equal(found[1], found[2]);
  return found.map((hex) => /** @type {Rgb} */ ([0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)));
}

test('names can be read on every span', () => {
  const [light, dark] = fromCss('span-text');
  for (let i = 0; i < 200; i++)
    for (const origin of ORIGINS) {
      const info = fn(`${origin}${i}`, origin);
      for (const [text, theme] of /** @type {[Rgb, typeof LIGHT][]} */ ([[light, LIGHT], [dark, DARK]]))
        assert.ok(contrast(text, colourOf(info, theme)) >= 4.5, `${origin}: ${contrast(text, colourOf(info, theme))}`);
    }
});

test('names can be read whatever colours mean', () => {
  const [light, dark] = fromCss('span-text');
  for (const [text, theme] of /** @type {[Rgb, typeof LIGHT][]} */ ([[light, LIGHT], [dark, DARK]]))
    for (let i = 0; i < 300; i++) {
      const info = { ...fn(`own${i}`, 'own'), module: `module${i}.c` };
      const heat = new Map([[0, i / 299]]);
      for (const colouring of /** @type {const} */ (['function', 'module', 'self'])) {
        const seen = contrast(text, makePaint(colouring, theme, heat)(info));
        assert.ok(seen >= 4.5, `${colouring} ${i}: ${seen}`);
      }
    }
});

test('colours of functions, of modules, of self time', () => {
  const none = new Map();
  const byFunction = makePaint('function', LIGHT, none);
  const byModule = makePaint('module', LIGHT, none);
  const [f, g, h] = ['f', 'g', 'h'].map((name) => ({ ...fn(name, 'own'), module: name === 'h' ? 'other.c' : 'one.c' }));
  assert.notDeepEqual(byFunction(f), byFunction(g));
  assert.deepEqual(byModule(f), byModule(g));
  assert.notDeepEqual(byModule(f), byModule(h));
  assert.ok(new Set(Array.from({ length: 100 }, (_, i) => byFunction(fn(`function_${i}`, 'own')).join())).size > 40);
  const untraced = fn('[syscall]', 'special');
  for (const colouring of /** @type {const} */ (['function', 'module', 'self'])) assert.deepEqual(makePaint(colouring, LIGHT, none)(untraced), colourOf(untraced, LIGHT));

  const functions = [f, { ...g, group: 1 }, { ...untraced, group: 2 }];
  const rows = [[0, 50], [1, 100], [2, 1000]].map(([group, self]) => ({ group, self }));
  const heat = heatOf(/** @type {any} */ (rows), functions);
  assert.deepEqual([...heat], [[0, 0.5], [1, 1]]);
  const bySelf = makePaint('self', LIGHT, heat);
  assert.deepEqual([bySelf(functions[0]), bySelf(functions[1])], [heatColour(0.5, LIGHT), heatColour(1, LIGHT)]);
  for (const theme of Object.values(THEMES))
    for (const vision of Object.values(VISIONS)) assert.ok(distance(heatColour(0.0001, theme), heatColour(1, theme), vision) > NOTICEABLE, `${distance(heatColour(0.0001, theme), heatColour(1, theme), vision)}`);
});

test('the module of a function is its file, or what its name says', () => {
  const names = [['f', '/src/f.c', '/src/f.c'], ['f', null, ''], ['std::vector<int, a::b>::push_back(int&&)', null, 'std::vector'],
    ['runtime.mallocgc', null, 'runtime'], ['core::ptr::drop_in_place', null, 'core::ptr'], ['~LazyCompile', null, '']];
  for (const [name, file, module] of names) assert.equal(moduleOf(/** @type {string} */ (name), file), module);
});

test('lost data has a colour of its own', () => {
  assert.notDeepEqual(familyOf(fn('[lost]', 'special')), familyOf(fn('[syscall]', 'special')));
  assert.deepEqual(familyOf(fn('[decode error: bad]', 'special')), familyOf(fn('[lost]', 'special')));
});

test('a colour depends on the name alone', () => {
  assert.deepEqual(colourOf(fn('f', 'own'), LIGHT), colourOf({ ...fn('f', 'own'), group: 7 }, LIGHT));
  assert.notEqual(hash('f'), hash('g'));
  const shades = new Set(Array.from({ length: 100 }, (_, i) => colourOf(fn(`function_${i}`, 'own'), LIGHT).join()));
  assert.equal(shades.size, 20);
});

test('merged tiles are nearer to the ground, and what is not searched for still more', () => {
  const functions = [fn('f', 'own'), { ...fn('g', 'own'), group: 1 }];
  const plain = makePalette(functions, LIGHT, null);
  const searched = makePalette(functions, LIGHT, 1);
  assert.equal(plain.single[0], pixel(colourOf(functions[0], LIGHT)));
  assert.equal(plain.merged[0], pixel(mix(colourOf(functions[0], LIGHT), LIGHT.ground, 0.45)));
  assert.notEqual(searched.single[0], plain.single[0]);
  assert.equal(searched.single[1], plain.single[1]);
});
