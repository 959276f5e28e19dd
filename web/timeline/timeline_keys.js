// The keys of the timeline. Letters work wherever the focus is, except in what takes text; arrows and the like only while the
// timeline has it, because lists and panels have their own use of them.

import { takesText } from '../panels/keys.js';

/**
 * @typedef {object} KeyActions
 * @property {(key: string) => boolean} press a key that moves while it is held; false: it does not
 * @property {(key: string) => void} release
 * @property {() => void} releaseAll
 * @property {(step: import('./walk_spans.js').Step) => void} walk
 * @property {() => boolean} hasSpan
 * @property {(share: number) => void} pan by a share of the width
 * @property {(pixels: number) => void} scroll
 * @property {(pages: number) => void} page
 * @property {(edge: 'from' | 'to' | 'all') => void} go
 * @property {() => void} zoomToSpan
 * @property {(mode: 'pan' | 'measure') => void} setMode
 * @property {() => boolean} clear the chosen span; false: none was
 * @property {() => void} fold the track of the chosen span
 */

const PAN_SHARE = 0.1;
const SCROLL_STEP = 36; // CSS pixels

/** @param {string} key @param {KeyActions} actions @returns {boolean} it did something */
function letter(key, actions) {
  switch (key) {
    case 'f':
      return actions.zoomToSpan(), true;
    case 'c':
      return actions.fold(), true;
    case '0':
      return actions.go('all'), true;
    case '1':
      return actions.setMode('pan'), true;
    case '2':
      return actions.setMode('measure'), true;
    default:
      return actions.press(key);
  }
}

/** @param {KeyboardEvent} event @param {KeyActions} actions @returns {boolean} it did something */
function arrow(event, actions) {
  const walks = actions.hasSpan() && !event.shiftKey;
  switch (event.key) {
    case 'ArrowLeft':
      return walks ? actions.walk('previous') : actions.pan(-PAN_SHARE), true;
    case 'ArrowRight':
      return walks ? actions.walk('next') : actions.pan(PAN_SHARE), true;
    case 'ArrowUp':
      return walks ? actions.walk('parent') : actions.scroll(-SCROLL_STEP), true;
    case 'ArrowDown':
      return walks ? actions.walk('child') : actions.scroll(SCROLL_STEP), true;
    case 'PageUp':
      return actions.page(-1), true;
    case 'PageDown':
      return actions.page(1), true;
    case 'Home':
      return actions.go('from'), true;
    case 'End':
      return actions.go('to'), true;
    case 'Enter':
      return actions.zoomToSpan(), true;
    case 'Escape':
      return actions.clear();
    default:
      return false;
  }
}

/** @param {HTMLElement} timeline what must have the focus for arrows @param {KeyActions} actions */
export function listenToTimelineKeys(timeline, actions) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (takesText(event.target) || document.querySelector('dialog[open]') !== null) return;
    const focused = document.activeElement === timeline || document.activeElement === document.body;
    if ((focused && arrow(event, actions)) || letter(event.key.toLowerCase(), actions)) event.preventDefault();
  });
  document.addEventListener('keyup', (event) => actions.release(event.key));
  window.addEventListener('blur', () => actions.releaseAll());
}
