// The colours of functions as the user wants them (timeline/colouring.js). All parts of the page that draw functions ask here, and
// draw again after 'change'.

import { heatOf, makePaint } from './timeline/colouring.js';

/** @typedef {import('./data/source.js').DataSource} DataSource */
/** @typedef {import('./data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('./view_state.js').ViewState} ViewState */

const MOST_ASKED = 10_000; // functions, those with most time: others have next to none

export class FunctionColours extends EventTarget {
  #source;
  #state;
  #functions;
  /** @type {Map<number, number>} shares of self time, by group */
  #heat = new Map();
  #asked = false;

  /** @param {DataSource} source @param {ViewState} state @param {FunctionInfo[]} functions by id */
  constructor(source, state, functions) {
    super();
    this.#source = source;
    this.#state = state;
    this.#functions = functions;
    state.addEventListener('colours', () => this.#change());
    if (state.colours === 'self') this.#change();
  }

  /** @param {import('./timeline/colouring.js').SpanTheme} theme */
  paint(theme) {
    return makePaint(this.#state.colours, theme, this.#heat);
  }

  #change() {
    this.dispatchEvent(new Event('change'));
    if (this.#state.colours !== 'self' || this.#asked) return;
    this.#asked = true;
    this.#readHeat().catch(() => (this.#asked = false)); // asked again when it is chosen again
  }

  async #readHeat() {
    const { rows } = await this.#source.table({ from: 0, to: this.#state.duration }, null, MOST_ASKED, 'self');
    this.#heat = heatOf(rows, this.#functions);
    this.dispatchEvent(new Event('change'));
  }
}
