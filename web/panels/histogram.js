// The histogram of the lengths of calls, as a picture whose bars can be walked through, are read by screen readers, and list their
// calls.
import { formatCounted, formatDuration } from '../format.js';
import { element, svg } from './dom.js';
import { layoutHistogram } from './histogram_layout.js';
import { makeRoving } from './roving.js';

/** @typedef {import('../data/source.js').CallStatistics} CallStatistics */

const WIDTH = 480;
const HEIGHT = 130;
const BELOW = 18;
const ABOVE = 26; // two lines of words

/** Ticks closer together than this would have their words run into each other. */
const TICK_APART = 60;

/**
 * @param {CallStatistics} statistics @param {import('../data/source.js').Range | null} chosen lengths
 * @param {(lengths: import('../data/source.js').Range | null) => void} choose is given those of a bar that is clicked, or null when they
 *   were chosen already
 */
export function makeHistogram({ histogram, median, p99 }, chosen, choose) {
  const { bars, ticks, x } = layoutHistogram(histogram, WIDTH, HEIGHT);
  const status = element('p', { class: 'quiet histogram-status', 'aria-hidden': 'true' });
  const report = (/** @type {string} */ words) => {
    status.textContent = words;
  };
  const rest = `${formatCounted(bars.length, 'bar')}, which list their calls; both axes are logarithmic`;
  report(rest);
  const drawnBars = bars.map(({ x: left, y, width, height, bin }) => {
    const words = `${formatDuration(bin.from)} to ${formatDuration(bin.to)}: ${formatCounted(bin.count, 'call')}`;
    const bar = svg('rect', {
      class: 'bar', x: left, y: ABOVE + y, width: Math.max(width - 1, 1), height, role: 'button', 'aria-label': words, tabindex: -1,
      'aria-pressed': String(chosen !== null && chosen.from <= bin.from && bin.to <= chosen.to),
    });
    const list = () => choose(bar.getAttribute('aria-pressed') === 'true' ? null : { from: bin.from, to: bin.to });
    bar.addEventListener('click', list);
    bar.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      event.stopPropagation();
      list();
    });
    bar.addEventListener('pointerenter', () => report(words));
    bar.addEventListener('pointerleave', () => report(rest));
    bar.addEventListener('focus', () => report(words));
    bar.addEventListener('blur', () => report(rest));
    return bar;
  });
  const list = svg('g', { role: 'group', 'aria-label': 'Lengths of the calls, shortest first' }, ...drawnBars);
  const picture = svg(
    'svg', { viewBox: `0 0 ${WIDTH} ${ABOVE + HEIGHT + BELOW}`, class: 'histogram' },
    ...axis(ticks), list, line(x(median), 'median', 11), line(x(p99), '99 %', 22),
  );
  const figure = element('figure', {}, element('figcaption', {}, 'How long the calls are'), picture, status);
  makeRoving(figure, '.bar', 'horizontal').refresh();
  return figure;
}

/** @param {{x: number, ns: number}[]} ticks */
function axis(ticks) {
  let last = -TICK_APART;
  return ticks.flatMap(({ x, ns }) => {
    const parts = [svg('line', { class: 'tick', x1: x, x2: x, y1: ABOVE, y2: ABOVE + HEIGHT + 4 })];
    if (x - last < TICK_APART) return parts;
    last = x;
    const anchor = x > WIDTH - TICK_APART / 2 ? 'end' : x < TICK_APART / 2 ? 'start' : 'middle';
    // A power of ten needs no digits after the point.
    const words = formatDuration(ns).replace(/\.0+/, '');
    return [...parts, svg('text', { class: 'tick-text', x, y: ABOVE + HEIGHT + BELOW - 4, 'text-anchor': anchor }, words)];
  });
}

/** @param {number} x @param {string} words @param {number} y of the words: each line its own, for they may be close together */
function line(x, words, y) {
  const left = x > WIDTH / 2;
  return svg(
    'g', { class: 'histogram-line', 'aria-hidden': 'true' },
    svg('line', { x1: x, x2: x, y1: y - 9, y2: ABOVE + HEIGHT }),
    svg('text', { x: x + (left ? -3 : 3), y, 'text-anchor': left ? 'end' : 'start' }, words),
  );
}
