// Announces which span is chosen in the page's live region, for users who do not see the picture.

import { spanOf } from '../data/place.js';
import { formatDuration, formatLength, formatTime } from '../format.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */

const WAIT = 200; // ms: of a fast walk only the end is announced

/** @param {HTMLElement} live @param {DataSource} source @param {ViewState} state @param {TraceInfo} info */
export function announceSpans(live, source, state, info) {
  let timer = 0;
  const report = async () => {
    const place = state.span;
    if (place === null) return;
    const { span } = await spanOf(source, place);
    if (span === null || state.span !== place) return;
    const track = info.tracks.find(({ id }) => id === place.track);
    live.textContent =
      `${span.name}, ${formatLength(span.end - span.start)}, in itself ${formatDuration(span.self)}, ` +
      `depth ${span.depth}, at ${formatTime(span.start)}, thread ${track?.thread ?? ''}`;
  };
  state.addEventListener('span', () => {
    window.clearTimeout(timer);
    // The panels ask the same and show what fails.
    timer = window.setTimeout(() => report().catch(() => {}), WAIT);
  });
}
