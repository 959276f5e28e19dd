// The tabs over the panels (the pattern "tabs" of the ARIA Authoring Practices): the one that ViewState.panel names is chosen.
import { button, element } from './dom.js';
import { makeRoving } from './roving.js';

/** @typedef {import('./context.js').Panel} Panel */

/** @param {import('../view_state.js').ViewState} state @param {Panel[]} panels */
export function makeTabs(state, panels) {
  const tabs = panels.map(({ name, title }) =>
    button(title, () => state.setPanel(name), {
      role: 'tab', id: `tab-${name}`, 'aria-controls': `panel-${name}`, focus: () => state.panel !== name && state.setPanel(name),
    }));
  for (const { name, element: panel } of panels) {
    panel.id = `panel-${name}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', `tab-${name}`);
  }
  const list = element('div', { role: 'tablist', 'aria-label': 'Panels' }, ...tabs);
  const roving = makeRoving(list, '[role=tab]', 'horizontal');
  const close = button('\u00d7', () => state.setPanel(null), { class: 'close', 'aria-label': 'Close the panels', title: 'Close (Escape)' });
  const show = () => {
    const index = panels.findIndex(({ name }) => name === state.panel);
    if (index < 0) return;
    tabs.forEach((tab, at) => tab.setAttribute('aria-selected', String(at === index)));
    roving.refresh(index);
  };
  state.addEventListener('panel', show);
  show();
  const bar = element('div', { class: 'tab-bar' }, list, close);
  return { element: element('div', { class: 'tabs' }, bar, ...panels.map((panel) => panel.element)) };
}
