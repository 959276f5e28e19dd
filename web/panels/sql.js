// Questions in SQL: a box for the query, and its rows as a table. Rows that say where a call is lead there.
import { formatCount, formatCounted } from '../format.js';
import { makePanel } from './context.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { goToMoment, reveal } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').SqlAnswer} SqlAnswer */
/** @typedef {SqlAnswer['rows'][number]} Row */

const MOST_ROWS = 1000;

/** @type {[string, string][]} */
const EXAMPLES = [
  ['Where the time goes', 'SELECT function, calls, self, total, median, p99\nFROM functions ORDER BY self DESC LIMIT 20'],
  ['The longest calls', "SELECT thread_id, depth, function, start, duration, self\nFROM calls WHERE depth > 0 ORDER BY duration DESC LIMIT 20"],
  ['Callers of a function', "SELECT p.function AS caller, count(*) AS calls, sum(c.duration) AS time\nFROM calls c JOIN calls p ON p.id = c.parent\nWHERE c.function = 'NAME' GROUP BY 1 ORDER BY time DESC"],
  ['Calls per millisecond', "SELECT start / 1000000 AS ms, count(*) AS calls, max(duration) AS longest\nFROM calls WHERE function = 'NAME' GROUP BY 1 ORDER BY 1"],
  ['Gaps', 'SELECT time, kind, text, thread FROM gaps'],
];

/**
 * Where the row's call is, as far as it says: a place, or only a moment.
 * @param {string[]} columns @param {Row} row
 * @returns {{place: import('../data/source.js').Place} | {moment: number} | null}
 */
export function whereIs(columns, row) {
  /** @param {string} name */
  const number = (name) => {
    const value = row[columns.indexOf(name)];
    return typeof value === 'number' ? value : null;
  };
  const track = number('thread_id'), depth = number('depth'), start = number('start'), duration = number('duration');
  const end = number('end') ?? (start !== null && duration !== null ? start + duration : null);
  if (track !== null && depth !== null && start !== null && end !== null) return { place: { track, depth, start, end } };
  const moment = start ?? number('time');
  return moment === null ? null : { moment };
}

/** @param {Context} context */
export function makeSqlPanel(context) {
  const { source, state } = context;
  const box = element('textarea', {
    class: 'sql', rows: 4, spellcheck: 'false', 'aria-label': 'SQL',
    placeholder: 'SELECT ... FROM calls, functions, threads, stacks, places, hits, marks, gaps, counters, trace',
    keydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      state.setSql(box.value);
    },
  });
  const examples = element(
    'select', { 'aria-label': 'Examples', change: () => example() }, element('option', { value: '' }, 'Examples'),
    ...EXAMPLES.map(([title], index) => element('option', { value: index }, title)),
  );
  const example = () => {
    if (examples.value !== '') box.value = EXAMPLES[Number(examples.value)][1];
    examples.value = '';
    box.focus();
  };
  const status = element('p', { class: 'quiet', role: 'status' });
  const table = element('table', { 'aria-label': 'Rows' });
  const question = new Question('Asking', table);
  const update = () => {
    box.value = state.sql;
    question.cancel();
    fill(table);
    status.textContent = '';
    if (state.sql.trim() === '' || !source.sql) return;
    const ask = source.sql.bind(source);
    question.run(
      (signal) => ask(state.sql, MOST_ROWS, signal),
      (answer) => {
        status.textContent = formatCounted(answer.rows.length, 'row') + (answer.more ? ', and more: the first are shown' : '');
        showRows(context, table, answer);
      },
    );
  };
  const run = button('Run', () => state.setSql(box.value), { title: 'Run the query (Ctrl + Enter)' });
  return makePanel(context, {
    name: 'sql', title: 'SQL',
    content: [element('div', { class: 'bar' }, run, examples, status), box, question.element, element('div', { class: 'scroll', tabindex: 0, 'aria-label': 'Rows' }, table)],
    update, on: [[state, 'sql']],
  });
}

/** @param {Context} context @param {HTMLElement} table @param {SqlAnswer} answer */
function showRows({ state }, table, { columns, rows }) {
  const numeric = columns.map((_, at) => rows.some((row) => typeof row[at] === 'number'));
  /** @param {number} at */
  const kind = (at) => (numeric[at] ? 'number' : '');
  const head = element('tr', {}, ...columns.map((name, at) => element('th', { scope: 'col', class: kind(at) }, name)));
  /** @param {Row} row */
  const line = (row) => {
    const where = whereIs(columns, row);
    const go = () => where !== null && ('place' in where ? reveal(state, where.place) : goToMoment(state, where.moment));
    return element('tr', {}, ...row.map((value, at) => {
      const words = typeof value === 'number' && Number.isInteger(value) ? formatCount(value) : String(value ?? '');
      const leads = where !== null && (columns[at] === 'start' || columns[at] === 'time');
      return element('td', { class: kind(at) }, leads ? button(words, go, { class: 'link', title: 'Show it' }) : words);
    }));
  };
  fill(table, element('thead', {}, head), element('tbody', {}, ...rows.map(line)));
}
