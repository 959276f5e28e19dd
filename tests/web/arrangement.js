// How tracks are arranged at the start, for tests of the layout.

/** @typedef {import('../../web/timeline/layout.js').Arrangement} Arrangement */

/** @param {Partial<Arrangement>} [changes] @returns {Arrangement} */
export function arrangement(changes = {}) {
  return { folded: new Set(), tall: new Set(), pinned: new Set(), filter: '', order: 'start', ...changes };
}
