// Walking through the calls of the function that is searched: where one stands ("17 of 3,204"), one on, one back.
import { formatCount } from '../format.js';
import { Question } from './question.js';
import { reveal, stepToCall } from './walk.js';

/** Dispatches 'step' when `words` have changed. */
export class CallWalk extends EventTarget {
  /** Where one stands, in words; empty before the first step. */
  words = '';
  question = new Question('Looking for the call');
  /**
   * The group that `words` speak of.
   * @type {number | null}
   */
  #group = null;

  /** @param {import('../data/source.js').DataSource} source @param {import('../view_state.js').ViewState} state */
  constructor(source, state) {
    super();
    this.source = source;
    this.state = state;
    state.addEventListener('search', () => {
      if (state.search.group !== this.#group) this.#report(state.search.group, '');
    });
  }

  /** @param {'next' | 'previous'} direction */
  step(direction) {
    const { source, state } = this;
    const { group } = state.search;
    if (group === null) return;
    const { from } = state.view;
    // Without a chosen span one walks on from what is in view; at the very beginning that is from the first call.
    const place = state.span ?? (from > 0 ? { track: 0, depth: 0, start: from, end: from } : null);
    this.question.run(
      (signal) => stepToCall(source, group, place, direction, state.duration, signal),
      ({ call, ordinal, of, wrapped }) => {
        if (call === null) return this.#report(group, 'no calls');
        reveal(state, call);
        this.#report(group, `${formatCount(ordinal)} of ${formatCount(of)}${wrapped ? ', around' : ''}`);
      },
    );
  }

  /** @param {number | null} group @param {string} words */
  #report(group, words) {
    this.#group = group;
    this.words = words;
    this.dispatchEvent(new Event('step'));
  }
}
