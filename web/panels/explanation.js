// Why calls of a function are slow: the slow ones, or the chosen one, against the usual ones, in the words of `magic-trace explain`.
import { formatDuration, formatShare } from '../format.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRoving } from './roving.js';
import { reveal } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').Explanation} Explanation */
/** @typedef {import('../data/source.js').Cause} Cause */

export class ExplanationView {
  /** What was asked last. */
  #asked = '';

  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    const { state } = context;
    this.choice = element('select', { 'aria-label': 'Calls that are explained' });
    this.choice.addEventListener('change', () => state.setWhy(/** @type {import('../view_state.js').ViewState['why']} */ (this.choice.value)));
    this.answer = element('div');
    this.question = new Question('Comparing the calls', this.answer);
    const heading = element('h3', {}, 'Why it takes longer');
    this.element = element('div', { class: 'explanation' }, heading, element('div', { class: 'bar' }, this.choice), this.question.element, this.answer);
    this.element.hidden = context.source.explain === undefined || context.info.sampled;
  }

  /**
   * The chosen span, when it is a call of the function.
   * @param {number} group
   */
  #chosenCall(group) {
    const { state, chosen, functions } = this.context;
    return chosen.details !== null && functions[chosen.details.function].group === group ? state.span : null;
  }

  /** @param {number} group whose calls are explained */
  update(group) {
    const { source, state } = this.context;
    const explain = source.explain?.bind(source);
    if (explain === undefined || this.element.hidden) return;
    const chosen = this.#chosenCall(group);
    const call = state.why === 'chosen' ? chosen : null;
    fill(this.choice, element('option', { value: 'slow' }, 'slow calls, against usual ones'),
      element('option', { value: 'chosen', disabled: chosen === null }, 'the chosen call, against usual ones'));
    this.choice.value = call === null ? 'slow' : 'chosen';
    const asked = JSON.stringify([group, call]);
    if (asked === this.#asked) return;
    this.#asked = asked;
    fill(this.answer);
    this.question.run((signal) => explain(group, call, signal), (explanation) => this.#show(explanation));
  }

  /** @param {Explanation} explanation */
  #show({ refused, heading, causes, slow, usual }) {
    const { state } = this.context;
    if (refused !== null) {
      fill(this.answer, element('p', { class: 'quiet' }, refused));
      return;
    }
    const list = element('ol', { class: 'causes', 'aria-label': 'Causes' }, ...causes.filter(({ share, path }) => share !== 0 || path.length > 0).map((cause) => element('li', {}, this.#cause(cause))));
    fill(this.answer, ...heading.trim().split('\n').map((line) => element('p', {}, line)), list,
      element('div', { class: 'buttons' }, button('Show the slow call', () => reveal(state, slow)), button('Show a usual call', () => reveal(state, usual))));
    makeRoving(list, 'button').refresh();
  }

  /** @param {Cause} cause */
  #cause({ share, extra, words, path, place }) {
    const { state, names } = this.context;
    const size = `${share < 0 ? '−' : ''}${formatShare(Math.abs(share), 1)}, ${extra < 0 ? '−' : ''}${formatDuration(Math.abs(extra))}`;
    const where = path.length > 1 && element('span', { class: 'quiet clamped' }, path.map((group) => names.of(group)).join(' › '));
    const facts = [element('strong', {}, size), ' ', words, ...(where ? [' ', where] : [])];
    if (place === null) return element('div', { class: 'cause' }, ...facts);
    const go = button('', () => reveal(state, place), { title: 'Shows the longest of these calls' });
    go.append(...facts);
    return go;
  }
}
