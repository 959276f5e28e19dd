// From call to call of a function, and bringing one into view.

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {{call: Place | null, ordinal: number, of: number, wrapped: boolean}} Step */

/**
 * The next or previous call of a group, after the last the first again.
 * @param {DataSource} source @param {number} group
 * @param {Place | null} from null: from the beginning, or from the end
 * @param {'next' | 'previous'} direction @param {string | null} where as in DataSource.next
 * @param {number} duration of the trace @param {AbortSignal} [signal]
 * @returns {Promise<Step>}
 */
export async function stepToCall(source, group, from, direction, where, duration, signal) {
  if (from !== null) {
    const step = await source.next(group, null, from, direction, where, signal);
    if (step.call !== null || step.of === 0) return { ...step, wrapped: false };
  }
  const edge = direction === 'next' ? firstCall(source, group, where, duration, signal) : lastCall(source, group, where, duration, signal);
  return { ...(await edge), wrapped: from !== null };
}

/** @param {DataSource} source @param {number} group @param {string | null} where @param {number} duration @param {AbortSignal} [signal] */
function lastCall(source, group, where, duration, signal) {
  const end = { track: 0, depth: 0, start: duration + 1, end: duration + 1 };
  return source.next(group, null, end, 'previous', where, signal);
}

/**
 * `next` finds what lies after a place, and no place lies before all others: the call at the very beginning, such as that of
 * main, is the one before the one that is found.
 * @param {DataSource} source @param {number} group @param {string | null} where @param {number} duration @param {AbortSignal} [signal]
 */
async function firstCall(source, group, where, duration, signal) {
  const found = await source.next(group, null, { track: 0, depth: 0, start: 0, end: 0 }, 'next', where, signal);
  if (found.call === null) return found.of === 0 ? found : lastCall(source, group, where, duration, signal);
  return found.ordinal === 1 ? found : source.next(group, null, found.call, 'previous', where, signal);
}

/** A span narrower than this part of the view is too narrow to be seen well. */
const TOO_NARROW = 1 / 200;

/**
 * Chooses a span and shows it. The zoom stays as it is while the span can be seen well in it: who walks from call to call
 * wants to compare them.
 * @param {ViewState} state @param {Place} place
 */
export function reveal(state, place) {
  const view = viewThatShows(state.view, place);
  if (view === null) {
    state.goTo(place);
    return;
  }
  state.setView(view);
  state.setSpan(place);
}

/**
 * @param {import('../data/source.js').Range} view @param {Place} place
 * @returns {import('../data/source.js').Range | null} null: only another zoom can show it
 */
export function viewThatShows(view, { start, end }) {
  const width = view.to - view.from;
  const length = end - start;
  if (length > width || length < width * TOO_NARROW) return null;
  if (start >= view.from && end <= view.to) return view;
  const middle = start + length / 2;
  return { from: middle - width / 2, to: middle + width / 2 };
}

/**
 * Shows a moment in the middle, no wider than the thousandth of the trace.
 * @param {ViewState} state @param {number} time
 */
export function goToMoment(state, time) {
  const width = Math.min(state.view.to - state.view.from, state.duration / 1000);
  state.setView({ from: time - width / 2, to: time + width / 2 });
}
