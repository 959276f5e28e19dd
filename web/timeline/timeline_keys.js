// The keys of the timeline. Letters work wherever the focus is, except in what takes text; arrows and the like only while the
// timeline or nothing has it, because lists and panels have their own use of them.

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
 * @property {() => void} pin the track of the chosen span
 */
/** @typedef {(actions: KeyActions) => boolean | void} Command false: there was nothing to do */

const PAN_SHARE = 0.1;
const SCROLL_STEP = 36; // CSS pixels

const LETTERS = /** @type {Record<string, Command>} */ ({
  f: (actions) => actions.zoomToSpan(),
  c: (actions) => actions.fold(),
  p: (actions) => actions.pin(),
  0: (actions) => actions.go('all'),
  1: (actions) => actions.setMode('pan'),
  2: (actions) => actions.setMode('measure'),
});

/** With a chosen span. */
const WALKING = /** @type {Record<string, Command>} */ ({
  ArrowLeft: (actions) => actions.walk('previous'),
  ArrowRight: (actions) => actions.walk('next'),
  ArrowUp: (actions) => actions.walk('parent'),
  ArrowDown: (actions) => actions.walk('child'),
  Enter: (actions) => actions.zoomToSpan(),
  Escape: (actions) => actions.clear(),
});

/** Without one, or with Shift. */
const MOVING = /** @type {Record<string, Command>} */ ({
  ArrowLeft: (actions) => actions.pan(-PAN_SHARE),
  ArrowRight: (actions) => actions.pan(PAN_SHARE),
  ArrowUp: (actions) => actions.scroll(-SCROLL_STEP),
  ArrowDown: (actions) => actions.scroll(SCROLL_STEP),
  PageUp: (actions) => actions.page(-1),
  PageDown: (actions) => actions.page(1),
  Home: (actions) => actions.go('from'),
  End: (actions) => actions.go('to'),
});

/** @param {KeyboardEvent} event @param {boolean} focused @param {boolean} hasSpan @returns {Command | undefined} */
function commandOf({ key, shiftKey }, focused, hasSpan) {
  if (focused && hasSpan && !shiftKey && key in WALKING) return WALKING[key];
  return (focused && MOVING[key]) || LETTERS[key.toLowerCase()];
}

/** @param {HTMLElement} timeline what must have the focus for arrows @param {KeyActions} actions */
export function listenToTimelineKeys(timeline, actions) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (takesText(event.target) || document.querySelector('dialog[open]') !== null) return;
    const focused = document.activeElement === timeline || document.activeElement === document.body;
    const command = commandOf(event, focused, actions.hasSpan());
    const done = command ? command(actions) !== false : actions.press(event.key);
    if (done) event.preventDefault();
  });
  document.addEventListener('keyup', (event) => actions.release(event.key));
  window.addEventListener('blur', () => actions.releaseAll());
}
