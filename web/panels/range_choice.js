// The range of the trace that the statistics cover: the whole trace, what is in view, what was measured, or the chosen span. One choice for all
// panels that add up. A new measurement is chosen at once; when it is removed the choice before it holds again.
import { element } from './dom.js';
import { formatDuration } from '../format.js';
import { whenQuiet } from './context.js';

/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {'whole' | 'view' | 'span' | 'measured'} Extent */

/** The view moves with every frame; statistics wait until it rests. */
const VIEW_RESTS_MS = 200;

/** Dispatches 'range' when range() or tracks() have changed, 'offer' when others can be chosen. */
export class RangeChoice extends EventTarget {
  /** @type {Extent} */
  #chosen = 'whole';

  /** @param {import('../view_state.js').ViewState} state */
  constructor(state) {
    super();
    this.state = state;
    const report = () => this.dispatchEvent(new Event('range'));
    const viewRests = whenQuiet(() => this.extent === 'view' && report(), VIEW_RESTS_MS);
    state.addEventListener('view', viewRests);
    let ofSpan = false;
    state.addEventListener('span', () => {
      const wasOfSpan = ofSpan;
      ofSpan = this.extent === 'span';
      if (ofSpan || wasOfSpan) report();
      else this.dispatchEvent(new Event('offer'));
    });
    this.measuredAtOnce = state.selection !== null;
    state.addEventListener('selection', () => {
      this.measuredAtOnce = state.selection !== null;
      report();
    });
  }

  /** @returns {Extent} */
  get extent() {
    if (this.measuredAtOnce) return 'measured';
    return this.#chosen === 'span' && this.state.span === null ? 'whole' : this.#chosen;
  }

  /** @param {Extent} extent 'measured' only when there is a selection */
  choose(extent) {
    this.measuredAtOnce = extent === 'measured';
    if (extent !== 'measured') this.#chosen = extent;
    this.dispatchEvent(new Event('range'));
  }

  /** @returns {Range} */
  range() {
    if (this.extent === 'measured' && this.state.selection) return this.state.selection.range;
    const { span } = this.state;
    if (this.extent === 'span' && span) return { from: span.start, to: Math.max(span.end, span.start + 1) };
    // A span of length zero at the very end lies in [0, duration + 1) only.
    return this.extent === 'view' ? this.state.view : { from: 0, to: this.state.duration + 1 };
  }

  /** @returns {number[] | null} null: all */
  tracks() {
    const { selection, span } = this.state;
    if (this.extent === 'span' && span) return [span.track];
    return this.extent === 'measured' && selection ? selection.tracks : null;
  }
}

/**
 * The control to choose it by.
 * @param {RangeChoice} choice
 */
export function makeRangeControl(choice) {
  const whole = element('option', { value: 'whole' }, 'whole trace');
  const view = element('option', { value: 'view' }, 'visible range');
  const span = element('option', { value: 'span' }, 'chosen span');
  const measured = element('option', { value: 'measured' }, 'measured range');
  const select = element('select', {}, whole, view, span, measured);
  select.addEventListener('change', () => choice.choose(/** @type {Extent} */ (select.value)));
  const length = element('span', { class: 'quiet' });
  const show = () => {
    span.disabled = choice.state.span === null;
    measured.disabled = choice.state.selection === null;
    select.value = choice.extent;
    const { from, to } = choice.range();
    length.textContent = formatDuration(choice.extent === 'whole' ? choice.state.duration : to - from);
  };
  for (const event of ['range', 'offer']) choice.addEventListener(event, show);
  show();
  return element('label', { class: 'range-choice' }, 'Of the ', select, ' ', length);
}
