// The looks of the flame graph: the page's own colours, and those of the timeline for functions.
import { familyOf, mix } from '../timeline/colours.js';
import { readTheme } from '../timeline/theme.js';

/** @typedef {import('./flame_layout.js').Box} Box */
/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../timeline/colours.js').Rgb} Rgb */

/** Of what is not searched, how much is the ground's colour. */
const DIMMED = 0.8;

/** @param {Rgb} colour */
export const css = (colour) => `rgb(${colour.map((part) => Math.round(part * 255)).join(' ')})`;

/**
 * @param {FunctionInfo[]} functions @param {import('../function_names.js').FunctionNames} names
 * @param {import('../function_colours.js').FunctionColours} colours @returns {import('./flame_canvas.js').Look}
 */
export function flameLook(functions, names, colours) {
  const theme = readTheme(document.body);
  const paint = colours.paint(theme.spans);
  return {
    node: ({ group }, dimmed) => {
      const fn = functions[group];
      const colour = paint(fn);
      const towards = /** @type {Rgb} */ (theme.spans.edge < 0 ? [0, 0, 0] : [1, 1, 1]);
      return {
        ground: css(dimmed ? mix(colour, theme.spans.ground, DIMMED) : colour),
        edge: css(mix(colour, towards, Math.abs(theme.spans.edge))),
        pattern: familyOf(fn).pattern,
      };
    },
    nameOf: ({ group }) => names.of(group),
    text: theme.css['span-text'],
    font: `12px ${theme.font}`,
    ground: theme.css.ground,
    root: theme.css['ground-sunken'],
    hatch: theme.css['text-weak'],
    mark: theme.css.accent,
    focus: theme.css.text,
  };
}
