// The looks of the flame graph, from the page's style sheet, so that it follows the theme.

/** @typedef {import('./flame_layout.js').Box} Box */
/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */

/** @param {FunctionInfo[]} functions @returns {import('./flame_canvas.js').Look} */
export function flameLook(functions) {
  const style = getComputedStyle(document.documentElement);
  const value = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const text = value('--text');
  const grounds = new Map(['own', 'library', 'kernel', 'inlined', 'special'].map((kind) => [kind, value(`--code-${kind}`)]));
  const sunken = value('--ground-sunken');
  return {
    colours: ({ node, parent }) => {
      const ground = node === null || parent === null ? sunken : grounds.get(functions[node.group]?.colour) ?? sunken;
      return { ground, text };
    },
    font: `12px ${value('--text-font')}`,
    ground: value('--ground'),
    line: value('--ground-sunken'),
    hatch: value('--text-weak'),
    mark: value('--accent'),
    focus: value('--focus'),
  };
}
