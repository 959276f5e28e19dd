// The switch between light, dark and what the system wants.
import { element } from './dom.js';

const THEMES = /** @type {const} */ (['system', 'light', 'dark']);

/** @param {import('../view_state.js').ViewState} state */
export function makeThemeSwitch(state) {
  const options = THEMES.map((theme) => element('option', { value: theme }, theme));
  const select = element('select', { 'aria-label': 'Theme', title: 'Theme' }, ...options);
  select.addEventListener('change', () => state.setTheme(/** @type {typeof THEMES[number]} */ (select.value)));
  const show = () => {
    select.value = state.theme;
  };
  state.addEventListener('theme', show);
  show();
  return select;
}
