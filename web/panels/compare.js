// What differs between two calls, or two ranges of time: in words, as a flame graph of both in the colours of the difference, and as two
// call trees side by side.
import { formatDuration, formatShare } from '../format.js';
import { makePanel } from './context.js';
import { DifferenceGraph } from './difference_graph.js';
import { differenceTree, differencesBelow } from './difference_tree.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRoving } from './roving.js';
import { reveal } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').Comparison} Comparison */
/** @typedef {import('../data/source.js').Part} Part */
/** @typedef {import('../view_state.js').Side} Side */
/** @typedef {import('./difference_tree.js').DifferenceNode} DifferenceNode */

const ROWS = 200;
/** Of the largest difference: smaller ones have no row. */
const ROW_SHARE = 0.01;

/**
 * "+1.234 µs"
 * @param {number} ns
 */
const signed = (ns) => `${ns < 0 ? '−' : ns > 0 ? '+' : ''}${formatDuration(Math.abs(ns))}`;

class ComparisonView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    const { state, chosen } = context;
    this.bar = element('div', { class: 'bar' });
    this.words = element('div', { class: 'comparison-words' });
    this.graph = new DifferenceGraph(context);
    this.rows = element('div');
    this.answer = element('div', { hidden: true }, this.words, this.graph.element, this.rows);
    this.question = new Question('Comparing', this.answer);
    this.hint = element('p', { class: 'quiet' });
    this.content = [this.bar, this.hint, this.question.element, this.answer];
    for (const event of ['compared', 'span', 'selection', 'names']) state.addEventListener(event, () => this.#showBar());
    chosen.addEventListener('details', () => this.#showBar());
    this.#showBar();
  }

  /**
   * What can be chosen now: the measured range, or else the chosen span.
   * @returns {Part | null}
   */
  #offered() {
    const { selection, span } = this.context.state;
    if (selection !== null) return { range: selection.range };
    return span === null ? null : { call: span };
  }

  /** @param {Part} part */
  #describe(part) {
    if ('range' in part) return `${formatDuration(part.range.from)} to ${formatDuration(part.range.to)}`;
    const { track, start, end } = part.call;
    const name = this.context.names.of(part.call.group ?? -1);
    return `${name ? `${name}, ` : ''}${formatDuration(end - start)} long, at ${formatDuration(start)} in ${this.context.info.tracks[track]?.thread ?? 'a thread'}`;
  }

  #showBar() {
    const { state } = this.context;
    const offered = this.#offered();
    /** @param {Side} side */
    const parts = (side) => {
      const part = state.compared[side];
      const what = offered === null ? 'Choose a span, or measure a range' : `Takes ${'range' in offered ? 'the measured range' : 'the chosen span'}`;
      return [button(`Set ${side.toUpperCase()}`, () => this.#set(side), { disabled: offered === null, title: what }),
        part === null ? element('span', { class: 'quiet' }, `${side.toUpperCase()} is not chosen`)
          : 'call' in part ? button(this.#describe(part), () => reveal(state, part.call), { class: 'part', title: 'Show this call' })
            : element('span', {}, this.#describe(part))];
    };
    const { a, b } = state.compared;
    fill(this.bar, ...parts('a'), ...parts('b'),
      button('Exchange', () => state.setCompared({ a: b, b: a }), { disabled: a === null && b === null }));
  }

  /** @param {Side} side */
  #set(side) {
    const { state, chosen, functions } = this.context;
    const offered = this.#offered();
    if (offered === null) return;
    const part = 'call' in offered ? { call: { ...offered.call, group: chosen.details === null ? undefined : functions[chosen.details.function].group } } : offered;
    state.setCompared({ ...state.compared, [side]: part });
  }

  update() {
    const { state, source } = this.context;
    const { a, b } = state.compared;
    const compare = source.compare?.bind(source);
    const fits = a !== null && b !== null && 'call' in a === 'call' in b;
    this.answer.hidden = !fits;
    this.hint.textContent = fits ? ''
      : a !== null && b !== null ? 'A call is compared with a call, and a range of time with another.'
        : 'Choose a span or measure a range, and set it as A; then another one as B. What B takes more or less than A is shown here.';
    if (!fits || compare === undefined) return;
    this.question.run((signal) => compare(a, b, signal), (comparison) => this.#show(comparison));
  }

  /** @param {Comparison} comparison */
  #show({ a, b, causes, nodes }) {
    const tree = differenceTree(nodes);
    const heading = element('p', {}, `A takes ${formatDuration(a.time)}, B ${formatDuration(b.time)}: `,
      element('strong', {}, signed(b.time - a.time)), ` (${formatShare(Math.abs(b.time - a.time), a.time)} ${b.time < a.time ? 'less' : 'more'}).`);
    const list = element('ol', { class: 'causes', 'aria-label': 'Differences' }, ...causes.map((cause) => element('li', {}, this.#cause(cause))));
    fill(this.words, heading, list);
    makeRoving(list, 'button').refresh();
    this.graph.show(tree);
    this.#showRows(tree);
  }

  /** @param {import('../data/source.js').Difference} difference */
  #cause({ difference, words, path, place }) {
    const { state, names } = this.context;
    const where = path !== undefined && element('span', { class: 'quiet clamped' }, path.map((group) => names.of(group)).join(' › '));
    const facts = [element('strong', {}, signed(difference)), ' ', words, ...(where ? [' ', where] : [])];
    if (place === null) return element('div', { class: 'cause' }, ...facts);
    const go = button('', () => reveal(state, place), { title: 'Shows the longest of these calls in B' });
    go.append(...facts);
    return go;
  }

  /**
   * Both trees, aligned.
   * @param {DifferenceNode} tree
   */
  #showRows(tree) {
    const { names } = this.context;
    const rows = differencesBelow(tree, ROW_SHARE, ROWS);
    const head = element('tr', {}, ...['Function', 'Calls A', 'Calls B', 'Time A', 'Time B', 'B − A'].map((words) => element('th', { scope: 'col' }, words)));
    const body = rows.map(({ node, depth, path }) => {
      const name = button(node.group < 0 ? 'all threads' : names.of(node.group), () => this.graph.zoomTo(path), { title: 'Shows it in the flame graph' });
      const cell = element('th', { scope: 'row' }, name);
      cell.style.setProperty('padding-left', `${Math.min(depth, 40) * 12 + 4}px`);
      const figures = [String(node.callsA), String(node.callsB), formatDuration(node.totalA), formatDuration(node.totalB), signed(node.totalB - node.totalA)];
      return element('tr', { 'aria-level': depth + 1 }, cell, ...figures.map((figure) => element('td', {}, figure)));
    });
    const table = element('table', { class: 'trees', 'aria-label': 'Both call trees' }, element('thead', {}, head), element('tbody', {}, ...body));
    fill(this.rows, table);
    makeRoving(table, 'tbody button').refresh();
  }
}

/** @param {Context} context */
export function makeComparePanel(context) {
  const view = new ComparisonView(context);
  return makePanel(context, { name: 'compare', title: 'Compare', content: view.content, update: () => view.update(), on: [[context.state, 'compared']] });
}
