// The line that shows the measured range and offers what one can do with it.
import { formatCounted, formatDuration, formatTime } from '../format.js';
import { copyCalls } from './copy_calls.js';
import { button, element } from './dom.js';
import { Question } from './question.js';

/** @param {import('./context.js').Context} context */
export function makeSelectionBar(context) {
  const { state } = context;
  const question = new Question('Fetching the calls');
  const words = element('span', { role: 'status' });
  /** @param {(selection: NonNullable<typeof state.selection>) => void} act */
  const withSelection = (act) => () => state.selection && act(state.selection);
  /** @param {NonNullable<typeof state.selection>} selection */
  const copy = ({ range, tracks }) => copyCalls(context, question, tracks, range, 'the calls of the measured range');
  const bar = element(
    'div', { class: 'selection-bar', role: 'group', 'aria-label': 'Measured range' }, words,
    button('Zoom to it', withSelection(({ range }) => state.setView(range))),
    button('Functions', () => state.setPanel('functions')),
    button('Flame graph', () => state.setPanel('flame')),
    button('Copy calls', withSelection(copy)),
    button('Clear', () => state.setSelection(null)),
    question.element,
  );
  const show = () => {
    const { selection } = state;
    bar.hidden = selection === null;
    question.cancel();
    if (selection === null) return;
    const { range, tracks } = selection;
    const where = tracks === null ? '' : ` on ${formatCounted(tracks.length, 'track')}`;
    const length = range.to - range.from;
    words.textContent = `Measured ${formatDuration(length)} from ${formatTime(range.from, length / 1000)}${where}`;
  };
  state.addEventListener('selection', show);
  show();
  return bar;
}
