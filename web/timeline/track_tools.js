// What chooses which tracks are shown, and in which order; stands above their names.

import { whenQuiet } from '../panels/context.js';
import { element } from '../panels/dom.js';

/** @typedef {import('../view_state.js').ViewState} ViewState */

const TYPING_RESTS = 80; // ms
/** @type {[ViewState['order'], string][]} */
const ORDERS = [['start', 'by start'], ['activity', 'most calls'], ['name', 'by name']];

/** @param {ViewState} state */
export function makeTrackTools(state) {
  const filter = element('input', {
    type: 'search', placeholder: 'Find tracks', 'aria-label': 'Find tracks by name or number', spellcheck: 'false', autocomplete: 'off',
  });
  filter.addEventListener('input', whenQuiet(() => state.setFilter(filter.value), TYPING_RESTS));
  const options = ORDERS.map(([order, words]) => element('option', { value: order }, words));
  const order = element('select', { 'aria-label': 'Order of the tracks' }, ...options);
  order.addEventListener('change', () => state.setOrder(/** @type {ViewState['order']} */ (order.value)));
  const show = () => {
    if (document.activeElement !== filter) filter.value = state.filter;
    order.value = state.order;
  };
  state.addEventListener('tracks', show);
  show();
  return element('span', { class: 'track-tools', role: 'group', 'aria-label': 'Which tracks' }, filter, order);
}
