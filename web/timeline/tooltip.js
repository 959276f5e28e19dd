// Words beside the pointer.

import { element, fill } from '../panels/dom.js';

const AWAY = 14; // CSS pixels from the pointer

export class Tooltip {
  #box = element('div', { class: 'tooltip', role: 'tooltip', hidden: true });
  #container;

  /** @param {HTMLElement} container */
  constructor(container) {
    this.#container = container;
    container.append(this.#box);
  }

  hide() {
    this.#box.hidden = true;
  }

  /** @param {string[]} lines the first stands out @param {number} x @param {number} y of the pointer, in the container */
  show(lines, x, y) {
    const [first, ...rest] = lines;
    fill(this.#box, element('strong', {}, first), ...rest.map((line) => element('span', {}, line)));
    this.#box.hidden = false;
    const { offsetWidth, offsetHeight } = this.#box;
    const { clientWidth, clientHeight } = this.#container;
    const left = x + AWAY + offsetWidth > clientWidth ? x - AWAY - offsetWidth : x + AWAY;
    const top = y + AWAY + offsetHeight > clientHeight ? y - AWAY - offsetHeight : y + AWAY;
    this.#box.style.transform = `translate(${Math.max(left, 0)}px, ${Math.max(top, 0)}px)`;
  }
}
