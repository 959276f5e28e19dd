// The list of what happened besides calls: hits of the trigger, gaps, errors, notes; each with a jump to it.
import { formatCounted, formatDuration, formatTime } from '../format.js';
import { makePanel } from './context.js';
import { element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRangeControl } from './range_choice.js';
import { makeRoving } from './roving.js';
import { goToMoment } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').Mark} Mark */
/** @typedef {import('../data/source.js').Hit} Hit */
/** @typedef {{time: number, kind: 'hit' | Mark['kind'], text: string, track: number, go: () => void}} Entry */

const MOST = 1000;
const KINDS = /** @type {const} */ ({ hit: 'hit', gap: 'gap', error: 'error', note: 'note' });

/** @param {Hit} hit */
export function hitWords({ name, argument, address, start, end }) {
  const words = [name];
  if (argument !== null) words.push(`argument ${argument}`);
  if (address !== null) words.push(`at ${address}`);
  if (end > start) words.push(`arrived after ${formatDuration(end - start)}`);
  return words.join(', ');
}

/** @param {Context} context */
export function makeMarksPanel(context) {
  const { source, ranges } = context;
  const status = element('p', { class: 'quiet', role: 'status' });
  const list = element('ol', { class: 'marks', 'aria-label': 'Hits, gaps and other marks' });
  const roving = makeRoving(list, 'button');
  const question = new Question('Fetching the marks', list);
  const kind = element(
    'select', { 'aria-label': 'Kind', change: () => show() }, element('option', { value: '' }, 'all kinds'),
    ...Object.values(KINDS).map((name) => element('option', { value: name }, `${name}s`)),
  );
  const jump = new Question('Looking for the hit');
  /** @param {Hit} hit */
  const goToHit = (hit) => jump.run((signal) => placeOfHit(source, hit, signal), (place) => showHit(context.state, place));
  /** @type {{entries: Entry[], more: boolean}} */
  let answer = { entries: [], more: false };
  const show = () => {
    const entries = answer.entries.filter((entry) => kind.value === '' || entry.kind === kind.value);
    const more = answer.more ? ', evenly chosen among more: choose a narrower range to see all' : '';
    status.textContent = formatCounted(entries.length, 'mark') + more;
    fill(list, ...entries.map((entry) => line(context, entry)));
    roving.refresh();
  };

  const update = () => {
    const range = ranges.range();
    question.run(
      (signal) => source.marks(range, MOST, signal),
      ({ marks, hits, more }) => {
        answer = { entries: entriesOf(context, marks, hits, goToHit), more };
        show();
      },
    );
  };
  return makePanel(context, {
    name: 'marks', title: 'Marks',
    content: [element('div', { class: 'bar' }, makeRangeControl(ranges), kind, status), question.element, jump.element, list],
    update, on: [[ranges, 'range']],
  });
}

/**
 * In view comes the moment of the hit, with what led up to it.
 * @param {import('../view_state.js').ViewState} state @param {import('../data/source.js').Place} place
 */
function showHit(state, place) {
  goToMoment(state, place.end);
  state.setSpan(place);
}

/** What is seen of a snapshot at first, in shares of the trace: this much before the hit, and a little after. */
const BEFORE_HIT = 1 / 20;
const AFTER_HIT = 1 / 100;

/**
 * A trace with one hit is a snapshot: what led up to the hit is what one wants to see first. Back shows the whole.
 * @param {import('../data/source.js').DataSource} source @param {import('../view_state.js').ViewState} state
 * @param {import('../data/source.js').TraceInfo} info
 */
export async function openAtHit(source, state, info) {
  const count = info.tracks.reduce((sum, { kind, spans }) => sum + (kind === 'hits' ? spans : 0), 0);
  if (count !== 1) return;
  const { hits } = await source.marks({ from: 0, to: state.duration + 1 }, MOST);
  if (hits.length !== 1) return;
  const { track, start, end } = hits[0];
  state.setView({ from: end - BEFORE_HIT * state.duration, to: end + AFTER_HIT * state.duration });
  state.setSpan({ track, depth: 0, start, end });
}

/**
 * Hits overlap, so that of their spans some lie below others.
 * @param {import('../data/source.js').DataSource} source @param {Hit} hit @param {AbortSignal} signal
 */
async function placeOfHit(source, { track, start, end }, signal) {
  const stack = await source.stack(track, start, signal);
  const span = stack.find((entry) => entry.start === start && entry.end === end);
  return { track, depth: span?.depth ?? 0, start, end };
}

/**
 * @param {Context} context @param {Mark[]} marks @param {Hit[]} hits @param {(hit: Hit) => void} goToHit
 * @returns {Entry[]} by time
 */
function entriesOf({ state }, marks, hits, goToHit) {
  const ofMarks = marks.map(({ time, kind, text, track }) => ({ time, kind, text, track, go: () => goToMoment(state, time) }));
  const ofHits = hits.map((hit) => ({
    time: hit.start,
    kind: KINDS.hit,
    text: hitWords(hit),
    track: hit.track,
    go: () => goToHit(hit),
  }));
  return [...ofMarks, ...ofHits].sort((a, b) => a.time - b.time);
}

/** @param {Context} context @param {Entry} entry */
function line({ info }, { time, kind, text, track, go }) {
  const thread = kind === KINDS.hit ? undefined : info.tracks.find((other) => other.id === track)?.thread;
  const where = element('span', { class: 'quiet' }, `${formatTime(time)}${thread === undefined ? '' : ` in ${thread}`}`);
  const label = element('span', { class: `kind kind-${kind}` }, kind);
  return element('li', {}, element('button', { type: 'button', click: go }, label, ' ', element('span', {}, text), ' ', where));
}
