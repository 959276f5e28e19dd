// The span at a place. A longer one may begin where one of no length lies: its end says which is meant.

/** @typedef {import('./source.js').DataSource} DataSource */
/** @typedef {import('./source.js').Place} Place */

/** @param {DataSource} source @param {Place} place @param {AbortSignal} [signal] */
export function spanOf(source, { track, depth, start, end, group }, signal) {
  return source.span(track, depth, start, signal, start === end ? { group } : null);
}
