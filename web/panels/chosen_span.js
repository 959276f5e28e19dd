// All that is known of the chosen span, asked once for all panels that show it.
import { spanOf } from '../data/place.js';
import { Question } from './question.js';

/** @typedef {import('../data/source.js').SpanDetails} SpanDetails */
/** @typedef {import('../data/source.js').StackEntry} StackEntry */

/** Dispatches 'details' when `details` and `parents` have changed. */
export class ChosenSpan extends EventTarget {
  /** @type {SpanDetails | null} */
  details = null;
  /** @type {StackEntry[]} outermost first */
  parents = [];
  question = new Question('Looking the span up');

  /** @param {import('../data/source.js').DataSource} source @param {import('../view_state.js').ViewState} state */
  constructor(source, state) {
    super();
    const ask = () => {
      const place = state.span;
      if (place === null) {
        this.question.cancel();
        this.#set(null, []);
        return;
      }
      this.question.run(
        (signal) => spanOf(source, place, signal),
        ({ span, parents }) => this.#set(span, parents),
      );
    };
    state.addEventListener('span', ask);
    ask();
  }

  /** @param {SpanDetails | null} details @param {StackEntry[]} parents */
  #set(details, parents) {
    this.details = details;
    this.parents = parents;
    this.dispatchEvent(new Event('details'));
  }
}
