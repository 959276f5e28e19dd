// The table of functions of a range: time and calls, sortable, filtered by name.
import { formatCount, formatCounted, formatDuration, formatShare } from '../format.js';
import { isOffCpu, knowsOffCpu } from '../data/off_cpu.js';
import { makePanel, showCallsOf, whenQuiet } from './context.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRangeControl } from './range_choice.js';
import { makeRoving } from './roving.js';
import { makeTimeControl, timeOf } from './time_choice.js';
import { ordered, sortedRows, sortOfSource } from './sorting.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./sorting.js').Column} Column */
/** @typedef {import('./sorting.js').Order} Order */
/** @typedef {import('../data/source.js').TableRow} TableRow */
/** @typedef {Awaited<ReturnType<import('../data/source.js').DataSource['table']>>} Table */

/** Rows that are asked for; sorting and filtering go over all of them ... */
const MOST_ASKED = 5000;
/** ... and rows that are shown at most: the browser does not lay out more. */
const MOST_SHOWN = 300;

/** @type {[Column, string, string][]} */
const COLUMNS = [
  ['name', 'Function', ''],
  ['calls', 'Calls', 'that overlap the range'],
  ['self', 'Self', 'time in which the function itself ran'],
  ['onCpu', 'On CPU', 'of Total: without the time in which its thread was not running'],
  ['total', 'Total', 'time in which it was on the stack'],
  ['min', 'Shortest', 'of the whole calls'],
  ['mean', 'Mean', 'of the whole calls'],
  ['max', 'Longest', 'of the whole calls'],
];

/** @type {[Column, string, string][]} */
const OF_SAMPLES = [
  ['name', 'Function', ''],
  ['calls', 'Spans', 'what samples one after the other have in common, in the range'],
  ['self', 'Self', 'time in which it was the innermost function of the samples'],
  ['total', 'Total', 'time in which it was on the stack of the samples'],
];

class FunctionTable {
  /** @type {Order} */
  #order = { column: 'self', descending: true };
  /** @type {Table | null} */
  #answer = null;
  /** What the current answer is sorted by: for another column the source is asked again. */
  #asked = '';

  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.filter = element('input', { type: 'search', placeholder: 'Filter by name', 'aria-label': 'Filter by name', spellcheck: 'false' });
    this.filter.addEventListener('input', whenQuiet(() => this.#show(), 80));
    this.status = element('p', { class: 'quiet', role: 'status' });
    // How often a function was called, and how long a call took, samples do not say.
    this.hasOnCpu = !context.info.sampled && knowsOffCpu(context.functions);
    const columns = context.info.sampled ? OF_SAMPLES : COLUMNS.filter(([column]) => this.hasOnCpu || column !== 'onCpu');
    this.heads = columns.map(([column, words, title]) => {
      const sort = button(words, () => this.#sortBy(column), { title });
      return element('th', { scope: 'col', class: column === 'name' ? '' : 'number', 'data-column': column }, sort);
    });
    this.rows = element('tbody');
    this.roving = makeRoving(this.rows, 'button');
    this.question = new Question('Adding up the functions', this.rows);
    const table = element('table', { 'aria-label': 'Functions' }, element('thead', {}, element('tr', {}, ...this.heads)), this.rows);
    this.bar = element('div', { class: 'bar' }, makeRangeControl(context.ranges), makeTimeControl(context), this.filter, this.status);
    this.content = [this.bar, this.question.element, element('div', { class: 'scroll' }, table)];
  }

  update() {
    const { source, ranges } = this.context;
    const sort = sortOfSource(this.#order.column);
    this.#asked = sort;
    this.question.run(
      (signal) => source.table(ranges.range(), ranges.tracks(), MOST_ASKED, sort, signal),
      (answer) => {
        this.#answer = answer;
        this.#show();
      },
    );
  }

  /** @param {Column} column */
  #sortBy(column) {
    this.#order = ordered(this.#order, column);
    const complete = this.#answer !== null && this.#answer.omittedRows === 0;
    if (complete || sortOfSource(column) === this.#asked) this.#show();
    else this.update();
  }

  #show() {
    const answer = this.#answer;
    if (answer === null) return;
    for (const head of this.heads) {
      const sorted = head.dataset.column === this.#order.column;
      if (sorted) head.setAttribute('aria-sort', this.#order.descending ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    }
    const onCpu = timeOf(this.context) === 'cpu';
    const counted = onCpu ? answer.rows.filter(({ group }) => !isOffCpu(this.context.functions[group])) : answer.rows;
    const rows = sortedRows(counted, this.#order, this.filter.value);
    this.status.textContent = tableWords(rows.length, answer, this.context.info.sampled, onCpu);
    fill(this.rows, ...rows.slice(0, MOST_SHOWN).map((row) => this.#row(row, answer)));
    this.roving.refresh();
  }

  /** @param {TableRow} row @param {Table} answer */
  #row(row, { time, offCpu }) {
    const { state, info, names } = this.context;
    const title = `Show its calls: ${row.name}`;
    const show = button(names.of(row.group), () => showCallsOf(state, row.group, row.name), { class: 'link', title });
    /** @param {string} text @param {string} [share] */
    const number = (text, share) =>
      element('td', { class: 'number' }, text, share !== undefined && element('span', { class: 'share' }, share));
    /** @param {number} ns */
    const length = (ns) => number(row.whole === 0 ? '' : formatDuration(ns));
    // Without waiting, self time is a share of the time in which threads ran.
    const running = time - offCpu;
    const whole = timeOf(this.context) === 'cpu' ? running : time;
    const onCpu = row.total - row.offCpu;
    return element('tr', {}, element('th', { scope: 'row', class: 'name' }, show), number(formatCount(row.calls)),
      number(formatDuration(row.self), formatShare(row.self, whole)), this.hasOnCpu && number(formatDuration(onCpu), formatShare(onCpu, running)),
      number(formatDuration(row.total), formatShare(row.total, time)),
      ...(info.sampled ? [] : [length(row.min), length(row.mean), length(row.max)]));
  }
}

/** @param {number} matching rows that the filter lets through @param {Table} answer @param {boolean} sampled @param {boolean} onCpu */
function tableWords(matching, { rows, omittedRows, omittedSelf, time, offCpu }, sampled, onCpu) {
  const words = [formatCounted(matching, 'function')];
  if (onCpu && offCpu > 0) words.push(`without the ${formatShare(offCpu, time)} in which threads were not running`);
  if (matching > MOST_SHOWN) words.push(`the first ${MOST_SHOWN} are shown`);
  const cut = rows.reduce((sum, row) => sum + row.calls - row.whole, 0);
  if (cut > 0 && !sampled) words.push(`${formatCounted(cut, 'call')} cut at the range's ends or not seen whole: in no Shortest, Mean and Longest`);
  if (omittedRows > 0) words.push(`${formatCount(omittedRows)} smaller ones with ${formatDuration(omittedSelf)} self are left out`);
  return words.join('; ');
}

/** @param {Context} context */
export function makeFunctionsPanel(context) {
  const table = new FunctionTable(context);
  return makePanel(context, {
    name: 'functions', title: 'Functions', content: table.content, update: () => table.update(), on: [[context.ranges, 'range'], [context.state, 'time']],
  });
}
