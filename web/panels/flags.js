// Flags that the user puts on the time line: list, name, remove. They live in the ViewState, and so in the URL.
import { formatTime } from '../format.js';
import { makePanel } from './context.js';
import { button, element, fill } from './dom.js';
import { goToMoment } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../view_state.js').Flag} Flag */
/** @typedef {import('../view_state.js').ViewState} ViewState */

/**
 * Where a new flag goes: under the pointer, else at the chosen span, else in the middle of the view.
 * @param {ViewState} state
 */
export function momentForFlag({ cursor, span, view }) {
  if (cursor !== null) return cursor;
  if (span !== null && span.start >= view.from && span.start < view.to) return span.start;
  return (view.from + view.to) / 2;
}

/** @param {ViewState} state */
export function addFlag(state) {
  const time = Math.round(momentForFlag(state));
  const taken = new Set(state.flags.map((flag) => flag.text));
  let number = state.flags.length + 1;
  while (taken.has(`Flag ${number}`)) number++;
  state.setFlags([...state.flags, { time, text: `Flag ${number}` }]);
}

/** @param {Context} context */
export function makeFlagsPanel(context) {
  const { state } = context;
  const hint = element('p', { class: 'hint' }, 'M puts a flag under the pointer. Flags are part of the address: who opens it sees them too.');
  const add = button('Add a flag', () => addFlag(state), { title: 'M' });
  const list = element('ol', { class: 'flags', 'aria-label': 'Flags' });
  const update = () => {
    // While a name is being typed the list stays, or the box would lose the focus.
    const typing = document.activeElement instanceof HTMLInputElement && list.contains(document.activeElement);
    if (typing && list.children.length === state.flags.length) return;
    fill(list, ...state.flags.map((flag) => line(state, flag)));
  };
  return makePanel(context, {
    name: 'flags', title: 'Flags', content: [element('div', { class: 'bar' }, add, hint), list], update, on: [[state, 'flags']],
  });
}

/** @param {ViewState} state @param {Flag} flag */
function line(state, flag) {
  let current = flag;
  /** @param {string} text */
  const rename = (text) => {
    const renamed = { ...current, text };
    state.setFlags(state.flags.map((other) => (other === current ? renamed : other)));
    current = renamed;
  };
  const name = element('input', { type: 'text', 'aria-label': `Name of the flag at ${formatTime(flag.time)}`, maxlength: 200 });
  name.value = flag.text;
  name.addEventListener('input', () => rename(name.value));
  return element(
    'li', {},
    button(formatTime(flag.time), () => goToMoment(state, flag.time), { title: 'Show it' }), name,
    button('Remove', () => state.setFlags(state.flags.filter((other) => other !== current)), { 'aria-label': `Remove ${flag.text}` }),
  );
}
