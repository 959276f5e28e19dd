// What the counters say at the moment under the pointer, or at the beginning of the chosen span.
import { formatTime, formatValue } from '../format.js';
import { makePanel, whenQuiet } from './context.js';
import { element, fill } from './dom.js';
import { Question } from './question.js';

/** @typedef {import('./context.js').Context} Context */

const POINTER_RESTS_MS = 60;

/** @param {import('../view_state.js').ViewState} state */
function momentOf({ cursor, span, view }) {
  return Math.floor(cursor ?? span?.start ?? view.from);
}

/** @param {Context} context */
export function makeCountersPanel(context) {
  const { source, state, info } = context;
  const question = new Question('Asking the counters');
  const when = element('p', { class: 'quiet' });
  const values = element('dl', { class: 'figures' });
  const moved = new EventTarget();
  const report = whenQuiet(() => moved.dispatchEvent(new Event('moment')), POINTER_RESTS_MS);
  for (const event of ['cursor', 'span']) state.addEventListener(event, report);

  const update = () => {
    const moment = momentOf(state);
    question.run(
      (signal) => Promise.all(info.counters.map(({ id }) => source.counter(id, { from: moment, to: moment + 1 }, 1, signal))),
      (answers) => {
        when.textContent = `At ${formatTime(moment)}`;
        fill(values, ...info.counters.flatMap(({ name, pid, unit }, index) => {
          const sample = answers[index][0];
          const value = sample === undefined || sample[0] > moment ? 'not known yet' : formatValue(sample[3], unit);
          return [element('dt', {}, pid === 0 ? name : `${name} (process ${pid})`), element('dd', {}, value)];
        }));
      },
    );
  };
  return makePanel(context, {
    name: 'counters', title: 'Counters', content: [when, question.element, values], update, on: [[moved, 'moment']],
  });
}
