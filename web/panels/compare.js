// What differs between two calls, or two ranges of time, of one trace or of two: in words, as a flame graph of both in the colours of the
// difference, and as two call trees side by side; and where both part.
import { formatDuration, formatShare } from '../format.js';
import { shortName } from '../short_name.js';
import { makePanel } from './context.js';
import { DifferenceGraph } from './difference_graph.js';
import { differenceTree, differencesBelow } from './difference_tree.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRoving } from './roving.js';
import { compareWholes, isWhole, otherAddress } from './trace_pair.js';
import { reveal } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').Comparison} Comparison */
/** @typedef {import('../data/source.js').Part} Part */
/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../view_state.js').Side} Side */
/** @typedef {import('./difference_tree.js').DifferenceNode} DifferenceNode */

const SIDES = /** @type {Side[]} */ (['a', 'b']);
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
    const { state, chosen, info } = context;
    this.pair = info.compared ?? null;
    /** @type {{of: (group: number) => string}} of functions, those of the other trace, too */
    this.names = context.names;
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
    const trace = this.pair === null ? {} : { trace: this.pair.letter };
    if (selection !== null) return { range: selection.range, ...trace };
    return span === null ? null : { call: span, ...trace };
  }

  /**
   * Whether the part is of the other trace.
   * @param {Part | null} part
   */
  #isOther(part) {
    return this.pair !== null && part?.trace !== undefined && part.trace !== this.pair.letter;
  }

  /** @param {Part} part */
  #describe(part) {
    const { info } = this.context;
    const other = this.pair !== null && this.#isOther(part) ? this.pair : null;
    if ('range' in part) {
      const { from, to } = part.range;
      if (part.trace !== undefined && isWhole(part.range, other?.otherDuration ?? info.duration)) return `all of ${other?.otherName ?? info.name}`;
      return `${formatDuration(from)} to ${formatDuration(to)}${other ? ` of ${other.otherName}` : ''}`;
    }
    const { track, start, end } = part.call;
    if (other !== null) return `a call, ${formatDuration(end - start)} long, at ${formatDuration(start)} of ${other.otherName}`;
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
          : 'call' in part ? this.#link(part, part.call, { class: 'part', title: 'Show this call' }, this.#describe(part))
            : element('span', {}, this.#describe(part))];
    };
    const { pair } = this;
    const { a, b } = state.compared;
    fill(this.bar, ...parts('a'), ...parts('b'),
      button('Exchange', () => state.setCompared({ a: b, b: a }), { disabled: a === null && b === null }),
      ...(pair === null ? []
        : [button('Whole traces', () => compareWholes(state, pair, false)),
          element('a', { href: otherAddress(state, pair, null) }, `Time line of ${pair.otherName}`)]));
  }

  /**
   * Leads to a call, on this page or on that of the other trace.
   * @param {Part | null} part that the call lies in @param {Place} place @param {{title: string, class?: string}} attributes
   * @param {...(string | Node)} content
   */
  #link(part, place, attributes, ...content) {
    const { state } = this.context;
    if (this.pair !== null && this.#isOther(part))
      return element('a', { ...attributes, href: otherAddress(state, this.pair, place), title: `${attributes.title}, on the page of ${this.pair.otherName}` }, ...content);
    const go = button('', () => reveal(state, place), attributes);
    go.append(...content);
    return go;
  }

  /** @param {Side} side */
  #set(side) {
    const { state, chosen, functions } = this.context;
    const offered = this.#offered();
    if (offered === null) return;
    const part = 'call' in offered ? { ...offered, call: { ...offered.call, group: chosen.details === null ? undefined : functions[chosen.details.function].group } } : offered;
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
  #show({ a, b, causes, parting, nodes, foreign }) {
    const { state, names } = this.context;
    const others = new Map(foreign);
    this.names = {
      /** @param {number} group */
      of(group) {
        const name = others.get(group);
        return name === undefined ? names.of(group) : state.shortNames ? shortName(name) : name;
      },
    };
    const tree = differenceTree(nodes);
    const heading = element('p', {}, `A takes ${formatDuration(a.time)}, B ${formatDuration(b.time)}: `,
      element('strong', {}, signed(b.time - a.time)), ` (${formatShare(Math.abs(b.time - a.time), a.time)} ${b.time < a.time ? 'less' : 'more'}).`);
    const list = element('ol', { class: 'causes', 'aria-label': 'Differences' }, ...causes.map((cause) => element('li', {}, this.#cause(cause))));
    fill(this.words, heading, list, ...this.#parting(parting));
    makeRoving(list, 'button, a').refresh();
    this.graph.show(tree, this.names);
    this.#showRows(tree);
  }

  /** @param {import('../data/source.js').Difference} difference */
  #cause({ difference, words, path, place }) {
    const { names } = this;
    const where = path !== undefined && element('span', { class: 'quiet clamped' }, path.map((group) => names.of(group)).join(' › '));
    const facts = [element('strong', {}, signed(difference)), ' ', words, ...(where ? [' ', where] : [])];
    if (place === null) return element('div', { class: 'cause' }, ...facts);
    return this.#link(this.context.state.compared.b, place, { title: 'Shows the longest of these calls in B' }, ...facts);
  }

  /**
   * Where both part, and how each goes on.
   * @param {import('../data/source.js').Parting} parting
   */
  #parting(parting) {
    const { compared } = this.context.state;
    const next = SIDES.flatMap((side) => {
      const call = parting[side];
      if (call === undefined) return [];
      const words = `${side.toUpperCase()}: ${call.words}`;
      return [element('li', {}, call.place === null ? words : this.#link(compared[side], call.place, { title: 'Shows this call' }, words))];
    });
    return [element('p', { class: 'parting' }, `${parting.words}${next.length > 0 ? ':' : '.'}`), element('ul', { class: 'causes' }, ...next)];
  }

  /**
   * Both trees, aligned.
   * @param {DifferenceNode} tree
   */
  #showRows(tree) {
    const { names } = this;
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
