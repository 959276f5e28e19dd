// The timeline's buttons in the page's toolbar.

import { button, element } from '../panels/dom.js';
import { COLOURINGS } from './colouring.js';

/** @typedef {'pan' | 'measure'} Mode what dragging the tracks does */

const ZOOM = 2; // of a touch of a button

/**
 * @param {HTMLElement} toolbar @param {import('../view_state.js').ViewState} state
 * @param {{setMode: (mode: Mode) => void, zoom: (factor: number) => void, showAll: () => void, foldAll: (folded: boolean) => void}} actions
 * @returns {{show: (mode: Mode) => void}} shows which mode it is
 */
export function makeToolbar(toolbar, state, actions) {
  const modes = {
    pan: button('Move', () => actions.setMode('pan'), { title: 'Dragging moves the view (1)' }),
    measure: button('Measure', () => actions.setMode('measure'), { title: 'Dragging measures a range (2, or hold Shift)' }),
  };
  /** @param {string} name @param {HTMLElement[]} buttons */
  const group = (name, ...buttons) => element('span', { class: 'joined', role: 'group', 'aria-label': name }, ...buttons);
  /** @param {string} text @param {string} words @param {string} key @param {() => void} click */
  const tool = (text, words, key, click) => button(text, click, { 'aria-label': words, title: key ? `${words} (${key})` : words });
  toolbar.append(
    group('What dragging does', modes.pan, modes.measure),
    group(
      'Zoom',
      tool('−', 'Zoom out', 'S', () => actions.zoom(ZOOM)),
      tool('+', 'Zoom in', 'W', () => actions.zoom(1 / ZOOM)),
      tool('Whole', 'Show the whole trace', '0', actions.showAll),
    ),
    group(
      'Tracks',
      tool('Fold', 'Fold all tracks', '', () => actions.foldAll(true)),
      tool('Unfold', 'Unfold all tracks', '', () => actions.foldAll(false)),
    ),
    makeColourChoice(state),
  );
  return {
    show(mode) {
      for (const [name, toggle] of Object.entries(modes)) toggle.setAttribute('aria-pressed', String(name === mode));
    },
  };
}

/**
 * What the colours of functions mean.
 * @param {import('../view_state.js').ViewState} state
 */
function makeColourChoice(state) {
  const options = Object.entries(COLOURINGS).map(([value, words]) => element('option', { value }, words));
  const choice = element('select', { class: 'colour-choice', 'aria-label': 'What colours mean', title: 'What colours mean' }, ...options);
  choice.addEventListener('change', () => state.setColours(/** @type {import('./colouring.js').Colouring} */ (choice.value)));
  const show = () => (choice.value = state.colours);
  state.addEventListener('colours', show);
  show();
  return choice;
}
