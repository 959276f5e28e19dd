// The looks of what is drawn: read from the page's CSS when the theme changes, so that canvas and page agree.

import { DARK, LIGHT, pixel } from './colours.js';

/** @typedef {import('./colours.js').Rgb} Rgb */
/**
 * @typedef {object} Theme
 * @property {typeof LIGHT} spans for the colours of spans
 * @property {Record<string, string>} css custom properties by name, without the dashes
 * @property {number} ground @property {number} untraced @property {number} unloaded @property {number} line @property {number} heading pixels of the tracks' picture
 * @property {string} font family of all text
 */

const NAMES = [
  'ground', 'ground-raised', 'ground-sunken', 'line', 'line-strong', 'text', 'text-weak', 'accent', 'accent-ground', 'on-accent', 'danger', 'warn',
  'span-text', 'untraced', 'unloaded', 'hit', 'flag', 'shade',
];

/** @param {string} colour "#rrggbb" @returns {Rgb} */
export function parseColour(colour) {
  const value = Number.parseInt(colour.trim().slice(1, 7), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

/** @param {Element} element below which everything has this theme @returns {Theme} */
export function readTheme(element) {
  const style = getComputedStyle(element);
  const css = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const ground = parseColour(css.ground);
  const dark = ground[0] + ground[1] + ground[2] < 1.5;
  return {
    spans: { ...(dark ? DARK : LIGHT), ground },
    css,
    ground: pixel(ground),
    untraced: pixel(parseColour(css.untraced)),
    unloaded: pixel(parseColour(css.unloaded)),
    heading: pixel(parseColour(css['ground-raised'])),
    line: pixel(parseColour(css.line)),
    font: style.fontFamily,
  };
}
