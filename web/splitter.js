// The bar between timeline and panel: its height follows the pointer and the arrow keys; hidden while no panel is shown.

/** @typedef {import('./view_state.js').ViewState} ViewState */

const SMALLEST = 80; // CSS pixels
const LEFT_FOR_TIMELINE = 200;
const STEP = 24;

/** @param {HTMLElement} splitter @param {HTMLElement} panel @param {ViewState} state */
export function makeSplitter(splitter, panel, state) {
  /** @param {number} height */
  const setHeight = (height) => {
    const most = Math.max(SMALLEST, window.innerHeight - LEFT_FOR_TIMELINE);
    const kept = Math.round(Math.min(Math.max(height, SMALLEST), most));
    panel.style.height = `${kept}px`;
    splitter.setAttribute('aria-valuenow', String(kept));
    splitter.setAttribute('aria-valuemin', String(SMALLEST));
    splitter.setAttribute('aria-valuemax', String(most));
  };
  const showOrHide = () => {
    panel.hidden = splitter.hidden = state.panel === null;
  };

  splitter.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    splitter.focus();
    splitter.setPointerCapture(event.pointerId);
  });
  splitter.addEventListener('pointermove', (event) => {
    if (splitter.hasPointerCapture(event.pointerId)) setHeight(panel.getBoundingClientRect().bottom - event.clientY);
  });
  splitter.addEventListener('keydown', (event) => {
    const steps = /** @type {Record<string, number>} */ ({ ArrowUp: 1, ArrowDown: -1, PageUp: 5, PageDown: -5 })[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setHeight(panel.getBoundingClientRect().height + steps * STEP);
  });
  window.addEventListener('resize', () => {
    if (!panel.hidden) setHeight(panel.getBoundingClientRect().height);
  });
  state.addEventListener('panel', showOrHide);
  showOrHide();
}
