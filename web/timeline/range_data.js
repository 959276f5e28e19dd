// What a source answers for a range (marks, counters), kept while it serves the view: asked again when the view leaves the range or
// is so much narrower that more detail is to be had. The old answer is shown until the new one is there.

/** @typedef {import('../data/source.js').Range} Range */

const ROOM = 1; // asked for on each side, in widths of the view
const DETAIL = 4; // the range may be so many times wider than the view with its room

/** @template Answer */
export class RangeData {
  /** @type {Answer | null} */
  answer = null;
  /** @type {Range | null} of the answer, or of the question that is under way */
  #range = null;
  /** @type {AbortController | null} */
  #asking = null;
  #ask;
  #handlers;

  /**
   * @param {(range: Range, signal: AbortSignal) => Promise<Answer>} ask
   * @param {{arrived: () => void, failed: (error: Error) => void}} handlers
   */
  constructor(ask, handlers) {
    this.#ask = ask;
    this.#handlers = handlers;
  }

  get isAsking() {
    return this.#asking !== null;
  }

  /**
   * Asks if what is here does not do.
   * @param {Range} view @param {number} duration of the trace
   */
  need(view, duration) {
    const width = view.to - view.from;
    const range = { from: Math.max(0, view.from - ROOM * width), to: Math.min(duration + 1, view.to + ROOM * width) };
    const had = this.#range;
    const inside = had !== null && had.from <= Math.max(0, view.from) && had.to >= Math.min(duration + 1, view.to);
    if (inside && had.to - had.from <= DETAIL * (2 * ROOM + 1) * width) return;
    this.#range = range;
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.#ask(range, asking.signal).then(
      (answer) => {
        if (this.#asking !== asking) return;
        this.#asking = null;
        this.answer = answer;
        this.#handlers.arrived();
      },
      (error) => {
        if (this.#asking !== asking) return;
        this.#asking = null;
        this.#handlers.failed(error);
      },
    );
  }
}
