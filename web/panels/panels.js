// The panels at the bottom of the page: what is known of the span, the functions, the range that the person chose.

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */

/**
 * Fills the container with tabs and panels; called once, by main.js.
 * @param {HTMLElement} container @param {DataSource} source @param {ViewState} state @param {TraceInfo} info
 */
export function makePanels(container, source, state, info) {
  void [container, source, state, info];
}
