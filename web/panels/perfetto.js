// Handing the trace over to ui.perfetto.dev by postMessage, as https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui
// says: the page is opened, asked until it answers, then given the trace's bytes. Nothing leaves the machine: that page works on
// the trace in the browser.
import { formatCount } from '../format.js';
import { openDialog } from './dialog.js';
import { button, element } from './dom.js';
import { Question } from './question.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */

const PERFETTO = 'https://ui.perfetto.dev';
const ASKED_EVERY_MS = 100;
const PATIENCE_MS = 30000;

/** What its browser tab survives; measured, see the trace format's facts in docs. */
const MOST_SPANS = 11e6;
const MOST_DEPTH = 512;

/**
 * What will go wrong over there, in words; empty: nothing.
 * @param {TraceInfo} info
 */
export function perfettoWarnings(info) {
  const deepest = Math.max(0, ...info.tracks.map((track) => track.depth));
  const warnings = [];
  if (info.spans > MOST_SPANS)
    warnings.push(`The trace has ${formatCount(info.spans)} spans; Perfetto's browser tab runs out of memory near ${formatCount(MOST_SPANS)}.`);
  if (deepest > MOST_DEPTH)
    warnings.push(`Its stacks are ${formatCount(deepest)} deep; Perfetto drops what is deeper than ${MOST_DEPTH}, and shows the rest wrongly.`);
  return warnings;
}

/** @param {Context} context */
export function makePerfettoButton(context) {
  const question = new Question('Handing the trace to Perfetto');
  const open = () => {
    const warnings = perfettoWarnings(context.info);
    if (warnings.length === 0) handOver(context, question);
    else confirm(warnings, () => handOver(context, question));
  };
  const control = button('Perfetto', open, { title: `Open the trace in ${PERFETTO}`, 'aria-label': 'Open in Perfetto' });
  return element('span', { class: 'perfetto' }, control, question.element);
}

/** @param {string[]} warnings @param {() => void} act */
function confirm(warnings, act) {
  const go = button('Open it all the same', () => {
    dialog.close();
    act();
  });
  const dialog = openDialog('This trace is too large for Perfetto', [...warnings.map((words) => element('p', {}, words)), go]);
}

/** @param {Context} context @param {Question} question */
function handOver({ source, info }, question) {
  // Opened at once, within the click: later the browser would take it for an unwanted window.
  const perfetto = window.open(PERFETTO);
  question.run(
    async (signal) => {
      if (perfetto === null) throw new Error(`The browser refused to open ${PERFETTO}. Allow this page to open windows, then try again.`);
      if (source.raw === undefined) throw new Error('This page does not have the trace itself.');
      const [buffer] = await Promise.all([source.raw(signal), untilItAnswers(perfetto, signal)]);
      perfetto.postMessage({ perfetto: { buffer, title: info.name, fileName: info.name } }, PERFETTO, [buffer]);
    },
    () => question.say('Perfetto has the trace.'),
  );
}

/** @param {Window} perfetto @param {AbortSignal} signal @returns {Promise<void>} */
function untilItAnswers(perfetto, signal) {
  return new Promise((resolve, reject) => {
    const asking = setInterval(() => perfetto.postMessage('PING', PERFETTO), ASKED_EVERY_MS);
    const giveUp = () => reject(new Error(`${PERFETTO} does not answer. Is there a way to the internet?`));
    const patience = setTimeout(() => end(giveUp), PATIENCE_MS);
    const listen = (/** @type {MessageEvent} */ event) => {
      if (event.origin === PERFETTO && event.data === 'PONG') end(resolve);
    };
    /** @param {() => void} act */
    const end = (act) => {
      clearInterval(asking);
      clearTimeout(patience);
      window.removeEventListener('message', listen);
      act();
    };
    window.addEventListener('message', listen);
    signal.addEventListener('abort', () => end(() => reject(signal.reason)));
  });
}
