// The panels at the bottom of the page and their tools in the toolbar: what is known of the span, the functions, the range that
// the user chose.
import { CallWalk } from './call_walk.js';
import { makeCallsPanel } from './calls.js';
import { ChosenSpan } from './chosen_span.js';
import { makeComparePanel } from './compare.js';
import { makeCountersPanel } from './counters.js';
import { makeDetailsPanel } from './details.js';
import { button, element } from './dom.js';
import { addFlag, makeFlagsPanel } from './flags.js';
import { makeFlamePanel } from './flame.js';
import { makeFunctionsPanel } from './functions.js';
import { showHelp } from './help.js';
import { listenToKeys } from './keys.js';
import { makeMarksPanel } from './marks.js';
import { makePerfettoButton } from './perfetto.js';
import { RangeChoice } from './range_choice.js';
import { SearchBox } from './search.js';
import { makeSelectionBar } from './selection_bar.js';
import { makeSourcePanel } from './source_text.js';
import { makeSqlPanel } from './sql.js';
import { makeTabs } from './tabs.js';
import { makeThemeSwitch } from './theme.js';

/** @typedef {import('./context.js').Context} Context */

/**
 * Fills the places for them; called once, by main.js.
 * @param {{panel: HTMLElement, toolbar: HTMLElement}} places
 * @param {Pick<Context, 'source' | 'state' | 'info' | 'functions' | 'names' | 'colours'>} page
 */
export function makePanels({ panel, toolbar }, { source, state, info, functions, names, colours }) {
  const chosen = new ChosenSpan(source, state);
  /** @type {Context} */
  const context = {
    source, state, info, functions, names, colours,
    ranges: new RangeChoice(state),
    chosen,
    walk: new CallWalk(source, state, chosen, functions),
  };
  const makers = [makeDetailsPanel, makeCallsPanel, makeFunctionsPanel, makeFlamePanel, makeSourcePanel, makeMarksPanel, makeFlagsPanel];
  if (info.counters.length > 0) makers.push(makeCountersPanel);
  if (source.compare) makers.push(makeComparePanel);
  if (source.sql) makers.push(makeSqlPanel);
  const panels = makers.map((make) => make(context));
  const tabs = makeTabs(state, panels);
  panel.append(makeSelectionBar(context), tabs.element);

  const search = new SearchBox(context);
  toolbar.append(search.element);
  if (info.canPerfetto) toolbar.append(makePerfettoButton(context));
  const help = button('?', showHelp, { 'aria-label': 'Keys', title: 'Keys (?)' });
  if (names.canShorten) toolbar.append(makeNamesSwitch(state));
  toolbar.append(makePanelSwitch(context), makeThemeSwitch(state), help);

  state.addEventListener('span', () => {
    if (state.span !== null && state.panel === null) state.setPanel('details');
  });
  listenToKeys(document, {
    search: () => search.focus(),
    // Without a function to walk through the keys lead to where one is chosen.
    next: () => (state.search.group === null ? search.focus() : context.walk.step('next')),
    previous: () => (state.search.group === null ? search.focus() : context.walk.step('previous')),
    flag: () => addFlag(state),
    help: showHelp,
    // Browsers that have this key do the same.
    back: () => window.history.back(),
    escape: () => escape(state),
  });
  // A page without a link's state shows the first panel. So does a link to a panel that this page does not have, such as the
  // counters of another trace; other links decide themselves.
  const first = state.panel === null ? window.location.hash === '' : panels.every(({ name }) => name !== state.panel);
  state.setPanel(first ? 'details' : state.panel);
}

/**
 * Closes what is open, the nearest first.
 * @param {Context['state']} state
 */
function escape(state) {
  if (state.selection !== null) state.setSelection(null);
  else if (state.panel !== null) state.setPanel(null);
  else return false;
  return true;
}

/**
 * Writes names of functions short, or whole again.
 * @param {Context['state']} state
 */
function makeNamesSwitch(state) {
  const title = 'Names of functions without template arguments and parameters';
  const toggle = button('Short names', () => state.setShortNames(!state.shortNames), { title });
  const show = () => toggle.setAttribute('aria-pressed', String(state.shortNames));
  state.addEventListener('names', show);
  show();
  return toggle;
}

/**
 * Opens the panels again after they were closed.
 * @param {Context} context
 */
function makePanelSwitch({ state }) {
  let last = state.panel ?? 'details';
  const toggle = button('Panels', () => state.setPanel(state.panel === null ? last : null), { title: 'Show or hide the panels' });
  const show = () => {
    if (state.panel !== null) last = state.panel;
    toggle.setAttribute('aria-pressed', String(state.panel !== null));
  };
  state.addEventListener('panel', show);
  show();
  return element('span', {}, toggle);
}
