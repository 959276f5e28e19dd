// The scroll bar of the tracks: the browser's own, beside a node as high as all tracks, or, where they are higher than browsers let
// a node be, in proportion.

import { element } from '../panels/dom.js';

/** @typedef {import('./scene.js').Scene} Scene */

const HIGHEST = 4_000_000; // CSS pixels; browsers end between 8 and 33 million
const WIDTH = 14;

export class Scrollbar {
  #inner = element('div');
  element = element('div', { class: 'scrollbar', tabindex: -1, 'aria-hidden': 'true' }, this.#inner);
  width = WIDTH;
  /** Layout height per scrolled pixel. */
  #ratio = 1;
  #set = 0;

  /** @param {(y: number) => void} scrolled */
  constructor(scrolled) {
    this.element.addEventListener('scroll', () => {
      if (Math.abs(this.element.scrollTop - this.#set) < 1) return; // we did it ourselves
      this.#set = this.element.scrollTop;
      scrolled(this.element.scrollTop * this.#ratio);
    });
  }

  /** @param {Scene} scene */
  draw(scene) {
    const height = Math.min(scene.layout.height, HIGHEST);
    const most = Math.max(height - scene.height, 0);
    this.#ratio = most > 0 ? scene.mostScroll / most : 1;
    const wanted = `${height}px`;
    if (this.#inner.style.height !== wanted) this.#inner.style.height = wanted;
    const top = scene.scroll / this.#ratio;
    if (Math.abs(this.element.scrollTop - top) < 1) return;
    this.element.scrollTop = top;
    this.#set = this.element.scrollTop;
  }
}
