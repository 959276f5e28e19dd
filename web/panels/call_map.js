// The calls of a function over time: each cell stands for calls that begin at about the same time and take about as long. Cells can be
// walked through, are read by screen readers, and lead to their longest call.
import { formatCounted, formatDuration, formatLength, formatTime } from '../format.js';
import { element, svg } from './dom.js';
import { layoutCallMap } from './call_map_layout.js';
import { makeRoving } from './roving.js';
import { reveal } from './walk.js';

/** @typedef {import('./call_map_layout.js').Cell} Cell */
/** @typedef {import('../data/source.js').CallStatistics} CallStatistics */
/** @typedef {import('../data/source.js').Range} Range */

/** Columns to be asked for. */
export const COLUMNS = 120;

const WIDTH = 480;
const HEIGHT = 130;
const BELOW = 18;
const ABOVE = 8;
const TICK_APART = 14; // px between the words of two ticks

/** @param {Cell} cell */
function wordsOf({ calls, shortest, longest, place }) {
  const length = place.end - place.start;
  if (calls === 1) return `1 call: ${formatLength(length)} at ${formatTime(place.start)}`;
  const some = `${formatCounted(calls, 'call')} of ${formatDuration(shortest)} to ${formatDuration(longest)}`;
  return `${some}; the longest ${formatLength(length)} at ${formatTime(place.start)}`;
}

/**
 * @param {CallStatistics} statistics with a map @param {Range} range that was asked for, within the trace
 * @param {import('../view_state.js').ViewState} state
 */
export function makeCallMap({ column = 1, map = [] }, range, state) {
  const { cells, ticks } = layoutCallMap(map, column, range, WIDTH, HEIGHT);
  const status = element('p', { class: 'quiet call-map-status', 'aria-hidden': 'true' });
  const rest = 'By beginning and length, which is logarithmic; a click shows the longest call';
  const report = (/** @type {string} */ words) => {
    status.textContent = words;
  };
  report(rest);
  const drawn = cells.map((cell) => {
    const words = wordsOf(cell);
    const dot = svg('rect', {
      class: 'cell', x: cell.x, y: ABOVE + cell.y, width: cell.width, height: cell.height, 'fill-opacity': cell.weight,
      role: 'button', 'aria-label': words, tabindex: -1,
    });
    const show = () => reveal(state, { ...cell.place, group: state.search.group ?? undefined });
    dot.addEventListener('click', show);
    dot.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      event.stopPropagation();
      show();
    });
    for (const event of ['pointerenter', 'focus']) dot.addEventListener(event, () => report(words));
    for (const event of ['pointerleave', 'blur']) dot.addEventListener(event, () => report(rest));
    return dot;
  });
  const axis = ticks.filter(({ y }, i) => i === 0 || ticks[i - 1].y - y >= TICK_APART).map(({ y, ns }) =>
    svg('g', { class: 'axis', 'aria-hidden': 'true' },
      svg('line', { class: 'tick', x1: 0, x2: WIDTH, y1: ABOVE + y, y2: ABOVE + y }),
      svg('text', { x: 2, y: ABOVE + y - 2 }, formatDuration(ns).replace(/\.0+/, ''))));
  const ends = [
    svg('text', { x: 0, y: ABOVE + HEIGHT + BELOW - 4 }, formatTime(range.from)),
    svg('text', { x: WIDTH, y: ABOVE + HEIGHT + BELOW - 4, 'text-anchor': 'end' }, formatTime(range.to)),
  ];
  const picture = svg(
    'svg', { viewBox: `0 0 ${WIDTH} ${ABOVE + HEIGHT + BELOW}`, class: 'call-map' },
    ...axis, ...ends, svg('g', { role: 'group', 'aria-label': 'Calls over time' }, ...drawn),
  );
  const figure = element('figure', {}, element('figcaption', {}, 'When they are'), picture, status);
  makeRoving(figure, '.cell', 'horizontal').refresh();
  return figure;
}
