// Fetches tiles by request ranges and keeps the answers that were used last, up to a number of bytes. Every frame says what it needs
// and what may be needed soon; other requests are aborted.

import { wider, halves, makeTileRows, rangeKey, timeOf, RANGE_BINS, RANGE_ROWS } from './request_range.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('./request_range.js').TileRows} TileRows */
/** @typedef {import('./request_range.js').RequestRange} RequestRange */

const MOST_BYTES = 64 << 20;
const MOST_REQUESTS = 6; // browsers open no more connections to one server
const NARROWER_STEPS = 2;
const RETRY_AFTER = 3000; // ms, when a request failed

export class TileStore {
  /** @type {Map<string, TileRows>} the one used longest ago first */
  #kept = new Map();
  /** @type {Map<string, AbortController>} */
  #pending = new Map();
  /** @type {Map<string, RequestRange>} wanted, neither here nor asked for; in order */
  #waiting = new Map();
  /** @type {Map<string, number>} when a request that failed may be sent again */
  #failed = new Map();
  #source;
  #duration;
  #handlers;
  #now;
  bytes = 0;
  requests = 0;

  /**
   * @param {DataSource} source @param {number} duration of the trace
   * @param {{arrived: () => void, failed: (error: Error) => void}} handlers
   * @param {{mostBytes?: number, now?: () => number}} [options]
   */
  constructor(source, duration, handlers, options = {}) {
    this.#source = source;
    this.#duration = duration;
    this.#handlers = handlers;
    this.#now = options.now ?? (() => performance.now());
    this.mostBytes = options.mostBytes ?? MOST_BYTES;
  }

  get count() {
    return this.#kept.size;
  }

  /** How many requests are pending or waiting. */
  get missing() {
    return this.#pending.size + this.#waiting.size;
  }

  /**
   * The tiles of a request range, if they are here.
   * @param {RequestRange} request
   */
  get(request) {
    const key = rangeKey(request);
    const tileRows = this.#kept.get(key);
    if (tileRows === undefined) return null;
    this.#kept.delete(key); // to the end: used last
    this.#kept.set(key, tileRows);
    return tileRows;
  }

  /**
   * What can be shown until the tiles of a request range are here: those of a wider range, else those of parts of it.
   * @param {RequestRange} request @returns {TileRows[]}
   */
  standIns(request) {
    for (let around = request; around.resolution * RANGE_BINS < this.#duration; ) {
      around = wider(around);
      const tileRows = this.get(around);
      if (tileRows) return [tileRows];
    }
    return this.#narrowerOnes(request, NARROWER_STEPS);
  }

  /** @param {RequestRange} request @param {number} steps @returns {TileRows[]} */
  #narrowerOnes(request, steps) {
    if (steps === 0 || request.resolution === 1) return [];
    return halves(request).flatMap((half) => {
      const tileRows = this.get(half);
      return tileRows ? [tileRows] : this.#narrowerOnes(half, steps - 1);
    });
  }

  /**
   * Takes what is needed now, most urgent first.
   * @param {RequestRange[]} needed @param {RequestRange[]} soon what may be needed next
   */
  want(needed, soon) {
    this.#waiting.clear();
    const wanted = new Set();
    for (const request of [...needed, ...soon]) {
      const key = rangeKey(request);
      wanted.add(key);
      if (!this.#kept.has(key) && !this.#pending.has(key) && !this.#mustWait(key)) this.#waiting.set(key, request);
    }
    for (const [key, controller] of this.#pending) {
      if (wanted.has(key)) continue;
      this.#pending.delete(key);
      controller.abort();
    }
    this.#ask();
  }

  /** @param {string} key */
  #mustWait(key) {
    const until = this.#failed.get(key);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#failed.delete(key);
    return false;
  }

  #ask() {
    for (const [key, request] of this.#waiting) {
      if (this.#pending.size >= MOST_REQUESTS) return;
      this.#waiting.delete(key);
      this.#fetch(key, request);
    }
  }

  /** @param {string} key @param {RequestRange} request */
  async #fetch(key, request) {
    const controller = new AbortController();
    this.#pending.set(key, controller);
    this.requests++;
    try {
      const tiles = await this.#source.tiles(
        request.track,
        timeOf(request),
        request.resolution,
        request.block * RANGE_ROWS,
        RANGE_ROWS,
        controller.signal,
      );
      if (this.#pending.get(key) !== controller) return; // it was aborted, or asked for again
      this.#keep(key, makeTileRows(request, tiles));
      this.#handlers.arrived();
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#failed.set(key, this.#now() + RETRY_AFTER);
      this.#handlers.failed(/** @type {Error} */ (error));
    } finally {
      if (this.#pending.get(key) === controller) this.#pending.delete(key);
      this.#ask();
    }
  }

  /** @param {string} key @param {TileRows} tileRows */
  #keep(key, tileRows) {
    this.#kept.set(key, tileRows);
    this.bytes += tileRows.bytes;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.bytes <= this.mostBytes || oldest === key) return;
      this.#kept.delete(oldest);
      this.bytes -= bytes;
    }
  }
}
