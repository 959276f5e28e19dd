// All calls of one function: how many, how long, the distribution of their lengths, when they are, the slowest ones. A bar of the
// distribution lists its calls.
import { formatCount, formatCounted, formatDuration, formatLength, formatShare, formatTime } from '../format.js';
import { knowsOffCpu } from '../data/off_cpu.js';
import { makePanel } from './context.js';
import { button, element, fill } from './dom.js';
import { COLUMNS, makeCallMap } from './call_map.js';
import { ExplanationView } from './explanation.js';
import { makeHistogram } from './histogram.js';
import { Question } from './question.js';
import { makeRangeControl } from './range_choice.js';
import { makeRoving } from './roving.js';
import { reveal } from './walk.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').CallStatistics} CallStatistics */
/** @typedef {import('../data/source.js').SlowCall} SlowCall */

const SLOWEST = 50;
const CUT = 'Its beginning or its end was not seen: it took at least so long.';

/** @param {Context} context */
export function makeCallsPanel(context) {
  const { source, state, functions, names, ranges, chosen } = context;
  const hint = element('p', { class: 'hint' }, 'Choose a function: by the search box, a row of the table, or a click on a span.');
  const name = element('h2', { class: 'name' });
  const answer = element('div', { class: 'columns' });
  const question = new Question('Looking at the calls', answer);
  const explanation = new ExplanationView(context);
  const content = element('div', {}, element('div', { class: 'bar' }, name, makeRangeControl(ranges)), question.element, answer);

  /** The function that is searched for; while there is none, that of the chosen span. */
  const groupOfInterest = () => state.search.group ?? (chosen.details && functions[chosen.details.function].group);

  const update = () => {
    const group = groupOfInterest();
    hint.hidden = group !== null;
    content.hidden = group === null;
    if (group === null) {
      question.cancel();
      return;
    }
    explanation.update(group);
    name.textContent = names.of(group) || `function ${group}`;
    name.title = functions[group]?.name ?? '';
    question.run(
      (signal) => source.calls(group, ranges.range(), ranges.tracks(), { slowest: SLOWEST, by: state.callOrder, columns: COLUMNS, lengths: state.lengths ?? undefined }, signal),
      (statistics) => {
        const focused = answer.contains(document.activeElement) ? document.activeElement?.getAttribute('aria-label') : null;
        const parts = describe(context, statistics);
        parts.splice(-1, 0, ...(statistics.whole > 0 ? [explanation.element] : []));
        fill(answer, ...parts);
        // A bar that was chosen by the keyboard keeps the focus, although it was drawn again.
        if (focused) /** @type {HTMLElement | null} */ (answer.querySelector(`[aria-label=${CSS.escape(focused)}]`))?.focus();
      },
    );
  };
  let shown = groupOfInterest();
  const interest = new EventTarget();
  const follow = () => {
    // The text that is searched for changes with every key, and a span's neighbour may be a call of the same function.
    if (groupOfInterest() === shown) return;
    if (shown !== null) state.setLengths(null);
    shown = groupOfInterest();
    fill(answer);
    interest.dispatchEvent(new Event('group'));
  };
  state.addEventListener('search', follow);
  chosen.addEventListener('details', follow);
  const explain = () => {
    const group = groupOfInterest();
    if (state.panel === 'calls' && group !== null) explanation.update(group);
  };
  chosen.addEventListener('details', explain);
  state.addEventListener('why', explain);
  return makePanel(context, {
    name: 'calls', title: 'Calls', content: [hint, content], update, on: [[interest, 'group'], [ranges, 'range'], [state, 'lengths'], [state, 'calls']],
  });
}

/** @param {Context} context @param {CallStatistics} statistics */
function describe(context, statistics) {
  const { calls, whole } = statistics;
  if (calls === 0) return [element('p', { class: 'hint' }, 'It is not called in this range.')];
  /** @type {HTMLElement[]} */
  const parts = [element('div', {}, context.info.sampled ? sampledFigures(statistics) : figures(statistics, knowsOffCpu(context.functions)))];
  if (context.info.sampled) return [...parts, slowest(context, statistics.slowest, 'longest span', 'longest spans')];
  if (whole === 0) {
    parts[0].append(element('p', { class: 'hint' }, 'No call lies in the range with both its ends seen, so no length is known.'));
    return parts;
  }
  const { state, ranges } = context;
  const { from, to } = ranges.range();
  const pictures = element(
    'div', { class: 'pictures' },
    makeHistogram(statistics, state.lengths, (lengths) => state.setLengths(lengths)),
    makeCallMap(statistics, { from: Math.max(from, 0), to: Math.min(to, state.duration) }, state),
  );
  return [...parts, pictures, state.lengths ? listed(context, statistics, state.lengths) : slowest(context, statistics.slowest)];
}

/**
 * The calls of some lengths.
 * @param {Context} context @param {CallStatistics} statistics @param {import('../data/source.js').Range} lengths
 */
function listed(context, { histogram, slowest: places }, { from, to }) {
  const count = histogram.reduce((sum, bin) => sum + (bin.from >= from && bin.to <= to ? bin.count : 0), 0);
  const all = button('All lengths', () => context.state.setLengths(null));
  const list = slowest(context, places, 'call', 'calls', `${formatCounted(count, 'call')} of ${formatDuration(from)} to ${formatDuration(to)}`);
  list.querySelector('h3')?.after(element('div', { class: 'bar' }, count > places.length && element('span', { class: 'quiet' }, `The ${formatCount(places.length)} longest.`), all));
  return list;
}

/**
 * Of samples it is known how long they had the function on their stacks, not how often it was called.
 * @param {CallStatistics} statistics
 */
function sampledFigures({ calls, total }) {
  const lines = [['Spans of samples', formatCount(calls)], ['Together', formatDuration(total)]];
  return element('dl', { class: 'figures' }, ...lines.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}

/** @param {CallStatistics} statistics @param {boolean} hasOnCpu */
function figures({ calls, recursive, total, offCpu, whole, sum, min, max, median, p99 }, hasOnCpu) {
  /** @type {[string, string][]} */
  const lines = [
    ['Calls', formatCount(calls)],
    ['Seen from begin to end', `${formatCount(whole)} (${formatShare(whole, calls)})`],
    ['Together', formatDuration(total)],
  ];
  if (hasOnCpu) lines.push(['Of that on-CPU', `${formatDuration(total - offCpu)} (${formatShare(total - offCpu, total)})`]);
  if (recursive > 0) lines.splice(1, 0, ['Of them recursive', `${formatCount(recursive)}, not counted again in Together`]);
  if (whole < calls) lines.splice(2, 0, ['Cut, in no length below', formatCount(calls - whole)]);
  if (whole > 0) {
    lines.push(
      ['Shortest', formatDuration(min)],
      ['Median', formatDuration(median)],
      ['Mean', formatDuration(sum / whole)],
      ['99th percentile', formatDuration(p99)],
      ['Longest', formatDuration(max)],
    );
  }
  return element('dl', { class: 'figures' }, ...lines.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}

/**
 * @param {Context} context @param {SlowCall[]} places @param {string} one what they are called @param {string} many
 * @param {string} heading
 */
function slowest({ state, info, functions }, places, one = 'slowest call', many = 'slowest calls', heading = `The ${formatCounted(places.length, one, many)}`) {
  const hasOnCpu = !info.sampled && knowsOffCpu(functions);
  const threads = new Map(info.tracks.map((track) => [track.id, track.thread]));
  const severalThreads = info.tracks.filter((track) => track.kind === 'thread').length > 1;
  const entries = places.map((place) => {
    const where = `at ${formatTime(place.start)}${severalThreads ? ` in ${threads.get(place.track) ?? 'a thread'}` : ''}`;
    const go = button('', () => reveal(state, { ...place, group: state.search.group ?? undefined }));
    const length = element('strong', {}, formatLength(place.end - place.start));
    const onCpu = hasOnCpu && ` ${formatDuration(place.end - place.start - place.offCpu)} on-CPU`;
    const cut = place.cut && !info.sampled && element('span', { class: 'cut', title: CUT }, 'cut');
    go.append(length, ...(onCpu ? [onCpu] : []), ...(cut ? [' ', cut] : []), ' ', element('span', { class: 'quiet' }, where));
    return element('li', {}, go);
  });
  const list = element('ol', { class: 'slowest', 'aria-label': `The ${many}` }, ...entries);
  makeRoving(list, 'button').refresh();
  return element('div', {}, element('h3', {}, heading), hasOnCpu && orderControl(state), list);
}

/** @param {import('../view_state.js').ViewState} state */
function orderControl(state) {
  const select = element('select', { 'aria-label': 'Calls are listed by' }, element('option', { value: 'length' }, 'by length'), element('option', { value: 'onCpu' }, 'by time on a processor'));
  select.value = state.callOrder;
  select.addEventListener('change', () => state.setCallOrder(/** @type {import('../view_state.js').CallOrder} */ (select.value)));
  return element('div', { class: 'bar' }, select);
}
