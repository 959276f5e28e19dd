// Walking through the calls of the function that is searched: where one stands ("17 of 3,204"), one on, one back.
import { formatCount } from '../format.js';
import { Question } from './question.js';
import { reveal, stepToCall } from './walk.js';

/** @param {import('../data/source.js').Place} one @param {import('../data/source.js').Place | null} other */
function samePlace(one, other) {
  return other !== null && one.track === other.track && one.depth === other.depth && one.start === other.start;
}

/**
 * What is asked of the values of the calls: "parse(size>4096)"; null: nothing.
 * @param {import('../view_state.js').ViewState['search']} search
 */
export function whereOf({ text, regex }) {
  return !regex && /\([^()]*[=<>~].*\)\s*$/.test(text) ? text : null;
}

/** Dispatches 'step' when `words` have changed. */
export class CallWalk extends EventTarget {
  /** Where one stands, in words; empty before the first step. */
  words = '';
  question = new Question('Looking for the call');
  #numbering = new Question('Counting the calls');
  /**
   * The group that `words` speak of.
   * @type {number | null}
   */
  #group = null;
  /**
   * The call that the last step led to.
   * @type {import('../data/source.js').Place | null}
   */
  #place = null;

  /**
   * @param {import('../data/source.js').DataSource} source @param {import('../view_state.js').ViewState} state
   * @param {import('./chosen_span.js').ChosenSpan} chosen @param {import('../data/source.js').FunctionInfo[]} functions
   */
  constructor(source, state, chosen, functions) {
    super();
    this.source = source;
    this.state = state;
    state.addEventListener('search', () => {
      if (state.search.group !== this.#group) this.#report(state.search.group, '');
    });
    chosen.addEventListener('details', () => this.#follow(chosen.details, functions));
  }

  /**
   * Another span was chosen: of the searched function it has a number of its own, and others have none.
   * @param {import('../data/source.js').SpanDetails | null} span @param {import('../data/source.js').FunctionInfo[]} functions
   */
  #follow(span, functions) {
    const { source, state } = this;
    const { group } = state.search;
    // A step says itself where it leads.
    if (group === null || this.question.isRunning || (span !== null && samePlace(span, this.#place))) return;
    this.#place = null;
    // Whether its values are those that are searched is not known here.
    if (span === null || functions[span.function].group !== group || whereOf(state.search) !== null) {
      this.#numbering.cancel();
      this.#report(group, '');
      return;
    }
    this.#numbering.run(
      (signal) => source.next(group, null, span, 'previous', null, signal),
      ({ ordinal, of }) => this.#report(group, `${formatCount(ordinal + 1)} of ${formatCount(of)}`),
    );
  }

  /** @param {'next' | 'previous'} direction */
  step(direction) {
    const { source, state } = this;
    const { group } = state.search;
    if (group === null) return;
    this.#numbering.cancel();
    const { from } = state.view;
    // Without a chosen span one walks on from what is in view; at the very beginning that is from the first call.
    const place = state.span ?? (from > 0 ? { track: 0, depth: 0, start: from, end: from } : null);
    this.question.run(
      (signal) => stepToCall(source, group, place, direction, whereOf(state.search), state.duration, signal),
      ({ call, ordinal, of, wrapped }) => {
        if (call === null) return this.#report(group, 'no calls');
        this.#place = { ...call, group };
        reveal(state, this.#place);
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
