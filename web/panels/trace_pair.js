// Two traces that are compared: each has its own page, `a/` and `b/`, and parts of both can be compared on either.
import { writeFragment } from '../url_state.js';
import { ViewState } from '../view_state.js';

/** @typedef {import('../data/source.js').Pair} Pair */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../data/source.js').Range} Range */

/** @param {number} duration @returns {Range} what lies at the very end, too */
const wholeRange = (duration) => ({ from: 0, to: duration + 1 });

/**
 * All of A with all of B.
 * @param {ViewState} state @param {Pair} pair @param {boolean} shows whether the panel is shown, too
 */
export function compareWholes(state, { letter, otherDuration }, shows) {
  const own = { range: wholeRange(state.duration), trace: letter };
  const other = { range: wholeRange(otherDuration), trace: otherLetter(letter) };
  state.setCompared(letter === 'a' ? { a: own, b: other } : { a: other, b: own });
  if (shows) state.setPanel('compare');
}

/** @param {'a' | 'b'} letter @returns {'a' | 'b'} */
export const otherLetter = (letter) => (letter === 'a' ? 'b' : 'a');

/** @param {Range} range @param {number} duration */
export const isWhole = ({ from, to }, duration) => from === 0 && to > duration;

/**
 * The address of the other trace's page with the same comparison; with a place, it shows the call there.
 * @param {ViewState} state @param {Pair} pair @param {Place | null} place in the other trace
 */
export function otherAddress(state, { letter, otherDuration }, place) {
  const there = new ViewState(otherDuration);
  if (place !== null) there.goTo(place);
  there.setPanel('compare');
  there.setCompared(state.compared);
  there.setTheme(state.theme);
  there.setShortNames(state.shortNames);
  return `../${otherLetter(letter)}/#${writeFragment(there)}`;
}
