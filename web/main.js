// Puts the page together: where answers come from, what the user looks at, the timeline and the panels.

import { EmbeddedSource } from './data/embedded.js';
import { HttpSource } from './data/http.js';
import { makePanels } from './panels/panels.js';
import { makeSplitter } from './splitter.js';
import { makeTimeline } from './timeline/timeline.js';
import { keepStateInUrl } from './url_state.js';
import { ViewState } from './view_state.js';

/** @typedef {import('./data/source.js').DataSource} DataSource */

/** @param {string} id */
function part(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * The trace that the page carries in itself if it does (data/embedded.js), else the server's.
 * @returns {DataSource}
 */
function makeSource() {
  const carried = document.getElementById('trace');
  if (carried?.textContent) return new EmbeddedSource(JSON.parse(carried.textContent));
  return new HttpSource(new URL('api/', document.baseURI));
}

/**
 * Words that matter more than the trace: it is damaged, or cannot be shown.
 * @param {string} words
 */
function notice(words) {
  const element = part('notice');
  element.textContent = words;
  element.hidden = false;
}

/** @param {ViewState} state */
function applyTheme(state) {
  const apply = () => {
    if (state.theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = state.theme;
  };
  state.addEventListener('theme', apply);
  apply();
}

async function start() {
  const source = makeSource();
  const [info, functions] = await Promise.all([source.trace(), source.functions()]);
  document.title = `${info.name} - magic-trace`;
  part('trace-name').textContent = info.name;
  part('trace-facts').textContent = `${info.spans.toLocaleString('en')} spans`;
  if (info.damage !== null) notice(`The trace is damaged; what came before the damage is shown. ${info.damage}`);

  const state = new ViewState(info.duration);
  keepStateInUrl(state, window);
  applyTheme(state);
  const timeline = makeTimeline(
    { timeline: part('timeline'), toolbar: part('toolbar-view'), live: part('live') },
    { source, state, info, functions },
  );
  makeSplitter(part('splitter'), part('panel'), state);
  makePanels({ panel: part('panel'), toolbar: part('toolbar-panels') }, { source, state, info, functions });
  /** @type {any} */ (window).magicTrace = { source, state, info, timeline };
}

start().catch((/** @type {Error} */ error) => notice(`The trace cannot be shown: ${error.message}`));
