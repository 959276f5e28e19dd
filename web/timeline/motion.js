// Moving the view: pure changes of a range, and the keys that are held down, which move it with the frames.

/** @typedef {import('../data/source.js').Range} Range */

const ZOOM_PER_SECOND = 12; // factor, while a key is held
const PAN_PER_SECOND = 1.2; // widths of the view
const FIRST_STEP = 0.06; // s: what a single touch of a key does at once

/**
 * Makes a range `factor` times as wide, with one moment of it staying where it is.
 * @param {Range} view @param {number} factor @param {number} time
 * @returns {Range}
 */
export function zoomed(view, factor, time) {
  return { from: time - (time - view.from) * factor, to: time + (view.to - time) * factor };
}

/** @param {Range} view @param {number} share of its width, to the right @returns {Range} */
export function panned(view, share) {
  const by = (view.to - view.from) * share;
  return { from: view.from + by, to: view.to + by };
}

/** Keys that are held, each with what it does: zoom or pan, and in which direction. */
const HELD = /** @type {Record<string, {zoom?: number, pan?: number}>} */ ({
  w: { zoom: -1 }, s: { zoom: 1 }, a: { pan: -1 }, d: { pan: 1 },
});

export class HeldKeys {
  /** @type {Set<string>} */
  #keys = new Set();
  #last = 0;

  get any() {
    return this.#keys.size > 0;
  }

  /**
   * False: the key does not move anything.
   * @param {string} key @param {number} now ms
   */
  press(key, now) {
    const name = key.toLowerCase();
    if (!(name in HELD)) return false;
    if (!this.#keys.has(name)) this.#last = now - FIRST_STEP * 1000;
    this.#keys.add(name);
    return true;
  }

  /** @param {string} key */
  release(key) {
    this.#keys.delete(key.toLowerCase());
  }

  releaseAll() {
    this.#keys.clear();
  }

  /**
   * The view a moment later.
   * @param {Range} view @param {number} around the moment that zooming keeps @param {number} now ms
   */
  move(view, around, now) {
    const seconds = Math.min(Math.max(now - this.#last, 0) / 1000, 0.1);
    this.#last = now;
    let moved = view;
    for (const key of this.#keys) {
      const { zoom, pan } = HELD[key];
      if (zoom) moved = zoomed(moved, ZOOM_PER_SECOND ** (zoom * seconds), around);
      if (pan) moved = panned(moved, pan * seconds * PAN_PER_SECOND);
    }
    return moved;
  }
}
