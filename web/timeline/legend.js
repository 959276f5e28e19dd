// Which colour and pattern mean whose code.

import { element } from '../panels/dom.js';
import { familyColour } from './colours.js';

/** @typedef {import('./theme.js').Theme} Theme */

const FAMILIES = /** @type {const} */ ([
  ['own', 'own', 'functions of the program itself'],
  ['library', 'library', 'functions of shared libraries'],
  ['inlined', 'inlined', 'functions that the compiler put into others: drawn less high'],
  ['kernel', 'kernel', 'the kernel: with a stripe below'],
  ['special', 'untraced', 'time without code that was seen, such as [syscall] and [untraced]: hatched'],
  ['lost', 'lost', 'data that was lost or could not be decoded: hatched'],
]);

/** @param {import('./colours.js').Rgb} colour */
function css(colour) {
  return `rgb(${colour.map((part) => Math.round(part * 255)).join(' ')})`;
}

export class Legend {
  element = element('div', { class: 'legend', role: 'group', 'aria-label': 'Colours' });
  /** @type {HTMLElement[]} */
  #swatches = [];

  constructor() {
    for (const [origin, words, more] of FAMILIES) {
      const swatch = element('span', { class: `swatch ${origin}` });
      this.#swatches.push(swatch);
      this.element.append(element('span', { class: 'entry', title: more }, swatch, words));
    }
  }

  /** @param {Theme} theme */
  draw(theme) {
    FAMILIES.forEach(([origin], i) => {
      this.#swatches[i].style.setProperty('--swatch', css(familyColour(origin, theme.spans)));
    });
  }
}
