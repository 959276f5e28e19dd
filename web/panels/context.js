// What every panel is given, and what a panel is.
import { element } from './dom.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('../function_names.js').FunctionNames} FunctionNames */
/** @typedef {import('./range_choice.js').RangeChoice} RangeChoice */
/** @typedef {import('./chosen_span.js').ChosenSpan} ChosenSpan */
/** @typedef {import('./call_walk.js').CallWalk} CallWalk */

/**
 * @typedef {object} Context
 * @property {DataSource} source
 * @property {ViewState} state
 * @property {TraceInfo} info
 * @property {FunctionInfo[]} functions by id
 * @property {FunctionNames} names how they are written
 * @property {import('../function_colours.js').FunctionColours} colours
 * @property {RangeChoice} ranges
 * @property {ChosenSpan} chosen
 * @property {CallWalk} walk
 */

/**
 * @typedef {{name: string, title: string, element: HTMLElement}} Panel
 *   name: in ViewState.panel, and so in the URL
 */

/**
 * A panel that is brought up to date only while it is shown.
 * @param {Context} context
 * @param {{name: string, title: string, content: Node[], update: () => void, on: [EventTarget, string][]}} parts
 *   on: the events after which `update` is due
 * @returns {Panel}
 */
export function makePanel({ state }, { name, title, content, update, on }) {
  const panel = element('section', { class: `panel panel-${name}` }, ...content);
  let stale = true;
  const refresh = () => {
    stale = state.panel !== name;
    if (!stale) update();
  };
  for (const [target, event] of [...on, /** @type {const} */ ([state, 'names'])]) target.addEventListener(event, refresh);
  state.addEventListener('panel', () => {
    // Shown before it is brought up to date, for what is hidden has no size and cannot be scrolled.
    panel.hidden = state.panel !== name;
    if (stale) refresh();
  });
  return { name, title, element: panel };
}

/**
 * Calls `act` once things have been quiet for `ms`.
 * @param {() => void} act @param {number} ms
 */
export function whenQuiet(act, ms) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
  };
}

/**
 * All calls of a function become what the page looks at.
 * @param {ViewState} state @param {number} group @param {string} name
 */
export function showCallsOf(state, group, name) {
  state.setSearch({ text: name, regex: false, group });
  state.setPanel('calls');
}
