// What the colours of functions mean, as the user chooses: whose code it is, the function, its module, or the time in it. What is
// no code, such as [syscall] and lost data, keeps its colour. Pure: numbers in, numbers out.

import { familyOf, hash, oklch, shadeColour, shadeOf } from './colours.js';

/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('../data/source.js').TableRow} TableRow */
/** @typedef {import('./colours.js').Rgb} Rgb */
/** @typedef {'origin' | 'function' | 'module' | 'self'} Colouring */
/** @typedef {(fn: FunctionInfo) => Rgb} Paint the colour of single spans of a function */
/** @typedef {typeof import('./colours.js').LIGHT} SpanTheme */

/** @type {Record<Colouring, string>} */
export const COLOURINGS = {
  origin: 'Whose code',
  function: 'Function',
  module: 'Module',
  self: 'Self time',
};

const HUES = 24;
const LIGHTNESSES = 3;
const CHROMA = 0.1;
/** Of self time, over so many powers of ten: from blue to grey, and from there to red, for those too who see hues less well. */
const HEAT = { decades: 4, lift: 0.07, cold: { hue: 250, chroma: 0.07 }, hot: { hue: 32, chroma: 0.15 } };

/** @param {string} text @param {SpanTheme} theme @returns {Rgb} */
function colourOfText(text, theme) {
  const shade = hash(text) % (HUES * LIGHTNESSES);
  const light = (Math.floor(shade / HUES) - (LIGHTNESSES - 1) / 2) * theme.step;
  return oklch(theme.lightness + light, CHROMA, ((shade % HUES) * 360) / HUES);
}

/**
 * @param {number} share 0: no time, 1: the most that a function has
 * @param {SpanTheme} theme @returns {Rgb}
 */
export function heatColour(share, theme) {
  const { decades, lift, cold, hot } = HEAT;
  const heat = share > 0 ? Math.max(0, 1 + Math.log10(share) / decades) : 0;
  const { hue, chroma } = heat < 0.5 ? cold : hot;
  const light = (heat - 0.5) * (theme.edge < 0 ? -lift : lift);
  return oklch(theme.lightness + light, chroma * Math.abs(2 * heat - 1), hue);
}

/**
 * Shares of the greatest self time, by group. What is no code does not count.
 * @param {TableRow[]} rows @param {FunctionInfo[]} functions
 */
export function heatOf(rows, functions) {
  const code = rows.filter(({ group }) => functions[group].colour !== 'special');
  const most = Math.max(1, ...code.map(({ self }) => self));
  return new Map(code.map(({ group, self }) => [group, self / most]));
}

/**
 * @param {Colouring} colouring @param {SpanTheme} theme @param {Map<number, number>} heat of self time, by group
 * @returns {Paint}
 */
export function makePaint(colouring, theme, heat) {
  /** @type {Paint} */
  const byOrigin = (fn) => shadeColour(familyOf(fn), shadeOf(fn), theme);
  const paints = /** @type {Record<Colouring, Paint>} */ ({
    origin: byOrigin,
    function: (fn) => colourOfText(fn.name, theme),
    module: (fn) => colourOfText(fn.module || fn.colour, theme),
    self: (fn) => heatColour(heat.get(fn.group) ?? 0, theme),
  });
  return (fn) => (fn.colour === 'special' ? byOrigin(fn) : paints[colouring](fn));
}
