// The names of functions as the user wants them: whole, or short (short_name.js). All parts of the page write them by this.

import { shortName } from './short_name.js';

/** @typedef {import('./data/source.js').FunctionInfo} FunctionInfo */

export class FunctionNames {
  /** @type {Map<number, string>} by function */
  #short = new Map();
  #functions;
  #state;

  /** @param {FunctionInfo[]} functions by id @param {{shortNames: boolean}} state */
  constructor(functions, state) {
    this.#functions = functions;
    this.#state = state;
  }

  /**
   * What a function, or a group, is called; '' where there is none: a link may be of another trace.
   * @param {number} id
   */
  of(id) {
    return this.#state.shortNames ? this.#shortOf(id) : this.#functions[id]?.name ?? '';
  }

  /** @param {number} id */
  #shortOf(id) {
    let short = this.#short.get(id);
    if (short !== undefined) return short;
    short = shortName(this.#functions[id]?.name ?? '');
    this.#short.set(id, short);
    return short;
  }

  /** Whether any name can be shortened. */
  get canShorten() {
    return this.#functions.some(({ name }, id) => /[<(]/.test(name) && this.#shortOf(id) !== name);
  }
}
