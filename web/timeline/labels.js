// The names in spans: which of them have room, and how much of a name fits. Keeps its arrays from frame to frame.

const NARROWEST = 22; // CSS pixels: less has no room for two letters and the dots
const PADDING = 4;
const FIRST_ROOM = 1024;
const WIDTHS_KEPT = 0x250; // letters whose width is kept: Latin
const MOST_TEXTS = 20000; // cut names that are kept

/** @typedef {(text: string) => number} Measure the width of a text in the font that is used, pixels */

export class Labels {
  count = 0;
  left = new Float64Array(FIRST_ROOM);
  right = new Float64Array(FIRST_ROOM);
  top = new Float64Array(FIRST_ROOM);
  function = new Uint32Array(FIRST_ROOM);
  /** @type {Map<number, string>} by function and number of letters */
  #texts = new Map();
  #widths = new Float64Array(WIDTHS_KEPT);
  #measure;
  #names;
  #dots;

  /** @param {(id: number) => string} names of functions @param {Measure} measure @param {number} scale device pixels per CSS pixel */
  constructor(names, measure, scale) {
    this.#names = names;
    this.#measure = measure;
    this.narrowest = NARROWEST * scale;
    this.padding = PADDING * scale;
    this.#dots = measure('…');
  }

  clear() {
    this.count = 0;
  }

  /** @param {number} left @param {number} right @param {number} top pixels @param {number} fn */
  add(left, right, top, fn) {
    if (this.count === this.left.length) this.#grow();
    const i = this.count++;
    this.left[i] = left;
    this.right[i] = right;
    this.top[i] = top;
    this.function[i] = fn;
  }

  #grow() {
    const grown = (/** @type {Float64Array} */ values) => {
      const more = new Float64Array(values.length * 2);
      more.set(values);
      return more;
    };
    this.left = grown(this.left);
    this.right = grown(this.right);
    this.top = grown(this.top);
    const functions = new Uint32Array(this.function.length * 2);
    functions.set(this.function);
    this.function = functions;
  }

  /** @param {string} text @param {number} i */
  #widthAt(text, i) {
    const code = text.charCodeAt(i);
    if (code >= WIDTHS_KEPT) return this.#measure(text[i]);
    if (this.#widths[code] === 0) this.#widths[code] = this.#measure(text[i]);
    return this.#widths[code];
  }

  /**
   * The text of a label: as much of the name as there is room for; '' if nothing sensible fits.
   * @param {number} i
   */
  text(i) {
    const fn = this.function[i];
    const name = this.#names(fn);
    const room = this.right[i] - this.left[i] - 2 * this.padding;
    let width = 0;
    let fits = 0; // letters that fit together with the dots
    for (let at = 0; at < name.length; at++) {
      width += this.#widthAt(name, at);
      if (width > room) return fits < 2 ? '' : this.#cut(fn, name, fits);
      if (width + this.#dots <= room) fits = at + 1;
    }
    return name;
  }

  /** @param {number} fn @param {string} name @param {number} letters */
  #cut(fn, name, letters) {
    const key = fn * 4096 + letters;
    let text = this.#texts.get(key);
    if (text !== undefined) return text;
    if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
    text = name.slice(0, letters) + '…';
    this.#texts.set(key, text);
    return text;
  }
}
