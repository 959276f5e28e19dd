// The colours of functions. Whose code a function is gives the family of the hue, and a pattern besides, so that it can be seen
// without hues (docs/viewer.md, "Colours"); its name gives the shade within the family. Pure: numbers in, numbers out.

/** @typedef {import('../data/source.js').FunctionInfo} FunctionInfo */
/** @typedef {FunctionInfo['colour']} Origin */
/** @typedef {[number, number, number]} Rgb 0 to 1 each, sRGB */

/** How a span is filled. PLAIN: own code and libraries; INSET: less high than its row; EDGED: a dark lower edge; HATCHED. */
export const PLAIN = 0;
export const INSET = 1;
export const EDGED = 2;
export const HATCHED = 3;

/** Hue in degrees, chroma and lightness of OKLCH, and how far shades go from it. */
/** @typedef {{hue: number, chroma: number, lift: number, pattern: number}} Family */
const FAMILIES = /** @type {Record<Origin, Family>} */ ({
  own: { hue: 252, chroma: 0.1, lift: 0, pattern: PLAIN },
  library: { hue: 78, chroma: 0.11, lift: 0.04, pattern: PLAIN },
  kernel: { hue: 352, chroma: 0.12, lift: -0.065, pattern: EDGED },
  inlined: { hue: 156, chroma: 0.085, lift: 0.065, pattern: INSET },
  special: { hue: 270, chroma: 0.008, lift: 0.01, pattern: HATCHED },
});
const HIT = { hue: 305, chroma: 0.11, lift: 0, pattern: PLAIN };
const LOST = { hue: 30, chroma: 0.13, lift: 0, pattern: HATCHED };
const LOST_NAMES = /^\[(lost|overflow|no image|too many distinct stacks|decode error)/;

const HUES = 5; // shades of a family: so many hues ...
const HUE_STEP = 7;
const LIGHTNESSES = 4; // ... of so many lightnesses
const GROUND_SHARE = 0.45; // of the ground's colour in that of merged tiles
const DIM_SHARE = 0.8;

/** What a theme says. text is drawn on all of them. */
export const LIGHT = { lightness: 0.8, step: 0.028, ground: /** @type {Rgb} */ ([1, 1, 1]), edge: -0.25 };
export const DARK = { lightness: 0.425, step: 0.03, ground: /** @type {Rgb} */ ([0.078, 0.094, 0.114]), edge: 0.28 };

/**
 * 32 bits that depend on all of a text (FNV-1a, then mixed).
 * @param {string} text
 */
export function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}

/**
 * Of OKLab (Ottosson 2020, "A perceptual color space for image processing").
 * @param {number} value linear
 */
function gamma(value) {
  const kept = Math.min(Math.max(value, 0), 1);
  return kept <= 0.0031308 ? kept * 12.92 : 1.055 * kept ** (1 / 2.4) - 0.055;
}

/** @param {number} lightness @param {number} chroma @param {number} hue degrees @returns {Rgb} */
export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** @param {Rgb} colour @param {Rgb} other @param {number} share of the other @returns {Rgb} */
export function mix(colour, other, share) {
  return /** @type {any} */ ([0, 1, 2].map((i) => colour[i] * (1 - share) + other[i] * share));
}

/**
 * As a pixel of an ImageData seen as Uint32Array, on a little-endian machine.
 * @param {Rgb} colour
 */
export function pixel([red, green, blue]) {
  return ((255 << 24) | (Math.round(blue * 255) << 16) | (Math.round(green * 255) << 8) | Math.round(red * 255)) >>> 0;
}

/** @param {FunctionInfo} fn */
export function familyOf({ name, colour }) {
  return colour === 'special' && LOST_NAMES.test(name) ? LOST : FAMILIES[colour];
}

/**
 * The colour of single spans of a function.
 * @param {FunctionInfo} fn @param {typeof LIGHT} theme @returns {Rgb}
 */
export function colourOf(fn, theme) {
  return shadeColour(familyOf(fn), shadeOf(fn), theme);
}

/**
 * Which of the shades of its family a function has.
 * @param {FunctionInfo} fn
 */
export function shadeOf(fn) {
  return hash(fn.name) % (HUES * LIGHTNESSES);
}

/** @param {Family} family @param {number} shade @param {typeof LIGHT} theme @returns {Rgb} */
export function shadeColour({ hue, chroma, lift }, shade, theme) {
  const turn = ((shade % HUES) - (HUES - 1) / 2) * HUE_STEP;
  const light = (Math.floor(shade / HUES) - (LIGHTNESSES - 1) / 2) * theme.step;
  return oklch(theme.lightness + lift + light, chroma, hue + turn);
}

/**
 * The colour that stands for a family, in the legend.
 * @param {Origin | 'lost'} origin @param {typeof LIGHT} theme @returns {Rgb}
 */
export function familyColour(origin, theme) {
  const { hue, chroma, lift } = origin === 'lost' ? LOST : FAMILIES[origin];
  return oklch(theme.lightness + lift, chroma, hue);
}

/**
 * Pixels by function id: of single spans, of merged tiles, and of what a pattern draws; and patterns.
 * @typedef {{single: Uint32Array, merged: Uint32Array, edge: Uint32Array, pattern: Uint8Array}} Palette
 */

/** @param {Rgb} colour @param {typeof LIGHT} theme @param {boolean} dim */
function pixelsOf(colour, theme, dim) {
  const share = dim ? DIM_SHARE : 0;
  const towards = /** @type {Rgb} */ (theme.edge < 0 ? [0, 0, 0] : [1, 1, 1]);
  return {
    single: pixel(mix(colour, theme.ground, share)),
    merged: pixel(mix(mix(colour, theme.ground, GROUND_SHARE), theme.ground, share)),
    edge: pixel(mix(mix(colour, towards, Math.abs(theme.edge)), theme.ground, share)),
  };
}

/**
 * @param {FunctionInfo[]} functions @param {typeof LIGHT} theme
 * @param {number | null} group the one that is searched for: all others are dimmed
 * @param {(fn: FunctionInfo) => Rgb} paint
 * @returns {Palette}
 */
export function makePalette(functions, theme, group, paint = (fn) => colourOf(fn, theme)) {
  const count = functions.length;
  const palette = {
    single: new Uint32Array(count),
    merged: new Uint32Array(count),
    edge: new Uint32Array(count),
    pattern: new Uint8Array(count),
  };
  /** @type {Map<number, ReturnType<typeof pixelsOf>>} there are few colours, and may be very many functions */
  const known = new Map();
  functions.forEach((fn, id) => {
    const colour = paint(fn);
    const dim = group !== null && fn.group !== group;
    const key = pixel(colour) * 2 + Number(dim);
    const pixels = known.get(key) ?? pixelsOf(colour, theme, dim);
    known.set(key, pixels);
    palette.single[id] = pixels.single;
    palette.merged[id] = pixels.merged;
    palette.edge[id] = pixels.edge;
    palette.pattern[id] = familyOf(fn).pattern;
  });
  return palette;
}

/**
 * The palette of tracks of hits: all in one colour.
 * @param {number} functions how many there are @param {typeof LIGHT} theme
 * @returns {Palette}
 */
export function makeHitPalette(functions, theme) {
  const { single, merged, edge } = pixelsOf(oklch(theme.lightness + HIT.lift, HIT.chroma, HIT.hue), theme, false);
  /** @param {number} value */
  const all = (value) => new Uint32Array(functions).fill(value);
  return { single: all(single), merged: all(merged), edge: all(edge), pattern: new Uint8Array(functions).fill(HIT.pattern) };
}
