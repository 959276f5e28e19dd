// The search box in the toolbar: functions by name, and walking through the calls of the one that is chosen. The matches come
// as a list below the box (the pattern "combobox with listbox" of the ARIA Authoring Practices).
import { formatCounted } from '../format.js';
import { whereOf } from './call_walk.js';
import { showCallsOf, whenQuiet } from './context.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { nextIndex } from './roving.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {{group: number, name: string, calls: number}} Match */

const MOST_MATCHES = 200;
const TYPING_RESTS_MS = 120;

export class SearchBox {
  /** @type {Match[]} */
  #matches = [];
  /** Of the list's entries, the one that Enter takes. */
  #active = 0;
  /** @type {string | null} what was searched last; null: nothing */
  #asked = null;
  /** @type {string | null} what the matches are of */
  #answered = null;
  /** Enter was pressed before the matches came: the first will be taken. */
  #hurried = false;
  #question = new Question('Searching');

  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    const { state, walk } = context;
    this.input = element('input', {
      type: 'search', role: 'combobox', placeholder: 'Search functions (/)', 'aria-label': 'Search functions', 'aria-expanded': 'false',
      'aria-controls': 'search-matches', 'aria-autocomplete': 'list', autocomplete: 'off', spellcheck: 'false',
      keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      focus: () => this.#asked !== null && this.#open(true),
    });
    this.input.addEventListener('input', whenQuiet(() => this.#typed(), TYPING_RESTS_MS));
    const regex = { title: 'Regular expression', 'aria-label': 'Regular expression', 'aria-pressed': 'false' };
    this.regex = button('.*', () => this.#toggleRegex(), regex);
    this.list = element('ul', { id: 'search-matches', role: 'listbox', 'aria-label': 'Functions found' });
    this.total = element('p', { class: 'quiet', role: 'status' });
    this.popup = element('div', { class: 'search-popup', hidden: true }, this.#question.element, this.total, this.list);
    // A click into the list must not take the focus from the box, whose loss closes the list.
    this.popup.addEventListener('mousedown', (event) => event.preventDefault());
    this.where = button('', () => this.#showCalls(), { class: 'search-where' });
    this.previous = button('\u2191', () => walk.step('previous'), { title: 'Previous call (Shift-N)', 'aria-label': 'Previous call' });
    this.next = button('\u2193', () => walk.step('next'), { title: 'Next call (N)', 'aria-label': 'Next call' });
    this.element = element('div', { class: 'search', role: 'search' }, this.input, this.regex, this.previous, this.next,
      element('span', { role: 'status' }, this.where), walk.question.element, this.popup);
    this.element.addEventListener('focusout', (event) => {
      if (!this.element.contains(/** @type {Node | null} */ (event.relatedTarget))) this.#open(false);
    });
    walk.addEventListener('step', () => this.#showWhere());
    state.addEventListener('search', () => this.#showState());
    this.#showState();
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  #showState() {
    const { text, regex, group } = this.context.state.search;
    if (document.activeElement !== this.input || text !== '') this.input.value = text;
    this.regex.setAttribute('aria-pressed', String(regex));
    for (const control of [this.previous, this.next]) control.disabled = group === null;
    this.#showWhere();
  }

  #showWhere() {
    const { state, functions, walk, info } = this.context;
    const { group } = state.search;
    // A link may name a function that this trace does not have.
    const chosen = group === null ? undefined : functions[group];
    this.where.textContent = chosen === undefined ? '' : walk.words || formatCounted(chosen.calls, info.sampled ? 'span' : 'call');
    this.where.title = `${this.where.textContent}: all calls of the function`;
    this.where.hidden = chosen === undefined;
  }

  #toggleRegex() {
    const { state } = this.context;
    state.setSearch({ text: this.input.value, regex: !state.search.regex, group: null });
    this.#asked = null;
    this.input.focus();
    this.#typed();
  }

  #showCalls() {
    const { state, functions } = this.context;
    const { group } = state.search;
    const name = group === null ? undefined : functions[group]?.name;
    if (group !== null && name !== undefined) showCallsOf(state, group, name);
  }

  #typed() {
    const { state, source } = this.context;
    const text = this.input.value;
    // Who has left the box already does not wait for its list any more.
    if (document.activeElement !== this.input) return;
    // Enter came before the typing rested, and has asked.
    if (text === this.#asked && text === state.search.text) return;
    if (text !== state.search.text) state.setSearch({ text, group: null });
    if (text === '') {
      this.#question.cancel();
      this.#asked = this.#answered = null;
      this.#open(false);
      return;
    }
    this.#asked = text;
    this.#answered = null;
    this.#hurried = false;
    this.#open(true);
    this.#question.run(
      (signal) => source.find(text, state.search.regex ? 'regex' : 'text', MOST_MATCHES, signal),
      ({ matches, total }) => this.#showMatches(exactFirst(matches, this.context.functions, text), total),
    );
  }

  /** @param {Match[]} matches @param {number} total how many there are, shown or not */
  #showMatches(matches, total) {
    this.#matches = matches;
    const { source, state } = this.context;
    const isOfValues = whereOf(state.search) !== null && state.search.text === this.#asked;
    this.total.textContent = total === 0 && isOfValues ? noValues(source.sql !== undefined) : matchesWords(matches.length, total);
    fill(this.list, ...matches.map((match, index) => this.#option(match, index)));
    this.#setActive(0);
    this.#answered = this.#asked;
    if (this.#hurried) this.#take(0);
  }

  /** @param {Match} match @param {number} index */
  #option(match, index) {
    const calls = element('span', { class: 'quiet' }, formatCounted(match.calls, this.context.info.sampled ? 'span' : 'call'));
    const name = element('span', { class: 'name', title: match.name }, this.context.names.of(match.group));
    return element('li', { role: 'option', id: `search-match-${index}`, click: () => this.#take(index) }, name, calls);
  }

  /** @param {number} index */
  #setActive(index) {
    this.#active = index;
    [...this.list.children].forEach((option, at) => option.setAttribute('aria-selected', String(at === index)));
    const option = this.list.children[index];
    option?.scrollIntoView({ block: 'nearest' });
    if (option) this.input.setAttribute('aria-activedescendant', option.id);
    else this.input.removeAttribute('aria-activedescendant');
  }

  /** @param {boolean} open */
  #open(open) {
    this.popup.hidden = !open;
    this.input.setAttribute('aria-expanded', String(open));
  }

  /**
   * Makes a match the function that is searched, and goes to its next call.
   * @param {number} index
   */
  #take(index) {
    const match = this.#matches[index];
    if (match === undefined) return;
    const { state, walk } = this.context;
    state.setSearch({ text: this.input.value, group: match.group });
    this.#open(false);
    walk.step('next');
  }

  /** @param {boolean} open @param {'next' | 'previous'} direction */
  #enter(open, direction) {
    const { state, walk } = this.context;
    const { value } = this.input;
    if (open && value === this.#answered) this.#take(this.#active);
    else if (state.search.group !== null && value === state.search.text) walk.step(direction);
    else if (value !== '') {
      this.#typed();
      this.#hurried = true;
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const open = !this.popup.hidden;
    // What is typed here is no command to the timeline; Ctrl-F is one to the page.
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    if (event.key === 'Escape') {
      event.preventDefault();
      if (open) this.#open(false);
      else this.input.blur();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.#enter(open, event.shiftKey ? 'previous' : 'next');
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const to = nextIndex(this.#active, this.#matches.length, event.key, 'ArrowUp', 'ArrowDown');
      event.preventDefault();
      if (!open) this.#open(this.#asked !== null);
      else if (to !== null && this.#matches.length > 0) this.#setActive(to);
    }
  }
}

/**
 * Who types a whole name means that function, however many others that are called more often have the name in theirs.
 * @param {Match[]} matches by calls @param {import('../data/source.js').FunctionInfo[]} functions @param {string} text
 */
export function exactFirst(matches, functions, text) {
  const id = functions.findIndex(({ name }) => name === text);
  if (id < 0) return matches;
  const { name, group, calls } = functions[id];
  return [{ group, name, calls }, ...matches.filter((match) => match.group !== group)];
}

/** @param {boolean} hasServer */
function noValues(hasServer) {
  return hasServer ? 'No recorded call (-args) has such arguments or results.' : 'An exported page does not search arguments and results: `magic-trace view` does.';
}

/** @param {number} shown @param {number} total */
function matchesWords(shown, total) {
  if (total === 0) return 'No function has that in its name.';
  const found = formatCounted(total, 'function');
  return shown < total ? `${found}; the ${shown} with most calls:` : found;
}
