// What colours and patterns mean.

import { element, fill } from '../panels/dom.js';
import { familyColour } from './colours.js';
import { heatColour } from './colouring.js';

/** @typedef {import('./theme.js').Theme} Theme */
/** @typedef {import('./colouring.js').Colouring} Colouring */

const FAMILIES = /** @type {const} */ ([
  ['own', 'own', 'functions of the program itself'],
  ['library', 'library', 'functions of shared libraries'],
  ['inlined', 'inlined', 'functions that the compiler put into others: drawn less high'],
  ['kernel', 'kernel', 'the kernel: with a stripe below'],
  ['special', 'untraced', 'time without code that was seen, such as [syscall] and [untraced]: hatched'],
  ['lost', 'lost', 'data that was lost or could not be decoded: hatched'],
]);
/** Whose code it is can be seen by patterns alone, then. */
const ONE_COLOUR = /** @type {const} */ ({
  function: ['a colour per function', 'functions of the same name have the same colour; others may have it, too'],
  module: ['a colour per module', 'a module is a source file; where that is not known, what the name says: a namespace or package'],
});
const HEATS = /** @type {const} */ ([
  [0.0001, 'little', 'self time: a ten thousandth of the most, or less'],
  [0.01, '1 %', 'self time: 1 % of that of the function with most'],
  [1, 'most time', 'self time: the function with most, in the whole trace'],
]);

/** @param {import('./colours.js').Rgb} colour */
function css(colour) {
  return `rgb(${colour.map((part) => Math.round(part * 255)).join(' ')})`;
}

/** @param {string} kind @param {import('./colours.js').Rgb} colour @param {string} words @param {string} more */
function entry(kind, colour, words, more) {
  const swatch = element('span', { class: `swatch ${kind}` });
  swatch.style.setProperty('--swatch', css(colour));
  return element('span', { class: 'entry', title: more }, swatch, words);
}

export class Legend {
  element = element('div', { class: 'legend', role: 'group', 'aria-label': 'Colours' });

  /** @param {Theme} theme @param {Colouring} colouring */
  draw(theme, colouring) {
    const families = FAMILIES.map(([origin, words, more]) => entry(origin, familyColour(origin, theme.spans), words, more));
    const outside = families.slice(-2);
    if (colouring === 'origin') fill(this.element, ...families);
    else if (colouring === 'self')
      fill(this.element, ...HEATS.map(([share, words, more]) => entry('own', heatColour(share, theme.spans), words, more)), ...outside);
    else {
      const [words, more] = ONE_COLOUR[colouring];
      fill(this.element, element('span', { class: 'entry wide', title: more }, words), ...outside);
    }
  }
}
