// Puts the page together: where answers come from, what the user looks at, the timeline and the panels.

import { EmbeddedSource } from './data/embedded.js';
import { HttpSource } from './data/http.js';
import { FunctionColours } from './function_colours.js';
import { FunctionNames } from './function_names.js';
import { compareWholes } from './panels/trace_pair.js';
import { makePanels } from './panels/panels.js';
import { makeSplitter } from './splitter.js';
import { MOST_STACKS } from './timeline/stack_tracks.js';
import { makeTimeline } from './timeline/timeline.js';
import { openAtHit } from './panels/marks.js';
import { keepStateInUrl } from './url_state.js';
import { ViewState } from './view_state.js';

/** @typedef {import('./data/source.js').DataSource} DataSource */

const SAMPLES =
  'These are samples, not calls: a span is what samples one after the other have in common. How often a function was called, and how ' +
  'long a call took, is not known.';

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

/**
 * How the trace was recorded and what its times mean; that these are samples.
 * @param {import('./data/source.js').TraceInfo} info
 */
function describeRecording({ recorded, sampled }) {
  const words = sampled ? [SAMPLES] : [];
  if (recorded !== null) words.unshift(`${recorded}.`);
  const element = part('recorded');
  element.textContent = words.join(' ');
  element.hidden = words.length === 0;
  element.classList.toggle('sampled', sampled);
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
  const { stacks } = info.switchCount > 0 ? await source.stacks(MOST_STACKS) : { stacks: [] };
  const name = info.compared ? `${info.compared.letter.toUpperCase()}: ${info.name}` : info.name;
  document.title = `${name} - magic-trace`;
  part('trace-name').textContent = name;
  part('trace-facts').textContent = `${info.spans.toLocaleString('en')} spans${info.sampled ? ' of samples' : ''}`;
  describeRecording(info);
  const notices = [];
  if (info.replaced !== null) notices.push(info.replaced);
  if (info.damage !== null) notices.push(`The trace is damaged; what came before the damage is shown. ${info.damage}`);
  if (notices.length > 0) notice(notices.join(' '));

  const state = new ViewState(info.duration);
  const isLinked = window.location.hash !== '';
  keepStateInUrl(state, window);
  const pair = info.compared ?? null;
  if (pair !== null && state.compared.a === null && state.compared.b === null) compareWholes(state, pair, !isLinked);
  applyTheme(state);
  const names = new FunctionNames(functions, state);
  const colours = new FunctionColours(source, state, functions);
  const timeline = makeTimeline(
    { timeline: part('timeline'), toolbar: part('toolbar-view'), live: part('live') },
    { source, state, info, stacks, functions, names, colours },
  );
  makeSplitter(part('splitter'), part('panel'), state);
  makePanels({ panel: part('panel'), toolbar: part('toolbar-panels') }, { source, state, info, functions, names, colours });
  if (!isLinked && pair === null) await openAtHit(source, state, info);
  /** @type {any} */ (window).magicTrace = { source, state, info, timeline };
}

start().catch((/** @type {Error} */ error) => notice(`The trace cannot be shown: ${error.message}`));
