// The timeline: tracks, ruler, marks, minimap. Made of the other files of this folder.

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('../data/source.js').TraceInfo} TraceInfo */
/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../view_state.js').ViewState} ViewState */

/**
 * @param {{timeline: HTMLElement, toolbar: HTMLElement, live: HTMLElement}} places
 * @param {{source: DataSource, state: ViewState, info: TraceInfo, functions: FunctionInfo[]}} page
 */
export function makeTimeline(places, page) {
  return { places, page };
}
