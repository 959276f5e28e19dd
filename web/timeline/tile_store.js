// Fetches tiles and keeps those that were used last, up to a number of bytes. Every frame tells what it needs and what may be
// needed soon; requests that are neither are aborted.

import { coarser, finer, makeTile, tileKey, tileRange, TILE_BINS, TILE_ROWS } from './tile.js';

/** @typedef {import('../data/source.js').DataSource} DataSource */
/** @typedef {import('./tile.js').Tile} Tile */
/** @typedef {import('./tile.js').TilePlace} TilePlace */

const MOST_BYTES = 64 << 20;
const MOST_REQUESTS = 6; // browsers open no more connections to one server
const FINER_STEPS = 2;
const RETRY_AFTER = 3000; // ms, when a request failed

export class TileStore {
  /** @type {Map<string, Tile>} the one used longest ago first */
  #tiles = new Map();
  /** @type {Map<string, AbortController>} */
  #pending = new Map();
  /** @type {Map<string, TilePlace>} wanted, neither here nor asked for; in order */
  #waiting = new Map();
  /** @type {Map<string, number>} when a tile may be asked for again that could not be had */
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
    return this.#tiles.size;
  }

  /** How many tiles are asked for or wait for that. */
  get missing() {
    return this.#pending.size + this.#waiting.size;
  }

  /**
   * The tile itself, if it is here.
   * @param {TilePlace} place
   */
  get(place) {
    const key = tileKey(place);
    const tile = this.#tiles.get(key);
    if (tile === undefined) return null;
    this.#tiles.delete(key); // to the end: used last
    this.#tiles.set(key, tile);
    return tile;
  }

  /**
   * What can be shown in a tile's stead while it is not here: a coarser one, else finer ones of parts of it.
   * @param {TilePlace} place @returns {Tile[]}
   */
  standIns(place) {
    for (let wider = place; wider.resolution * TILE_BINS < this.#duration; ) {
      wider = coarser(wider);
      const tile = this.get(wider);
      if (tile) return [tile];
    }
    return this.#finerOnes(place, FINER_STEPS);
  }

  /** @param {TilePlace} place @param {number} steps @returns {Tile[]} */
  #finerOnes(place, steps) {
    if (steps === 0 || place.resolution === 1) return [];
    return finer(place).flatMap((half) => {
      const tile = this.get(half);
      return tile ? [tile] : this.#finerOnes(half, steps - 1);
    });
  }

  /**
   * Tells what is needed now, most urgent first.
   * @param {TilePlace[]} places @param {TilePlace[]} soon what may be needed next
   */
  want(places, soon) {
    this.#waiting.clear();
    const wanted = new Set();
    for (const place of [...places, ...soon]) {
      const key = tileKey(place);
      wanted.add(key);
      if (!this.#tiles.has(key) && !this.#pending.has(key) && !this.#mustWait(key)) this.#waiting.set(key, place);
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
    for (const [key, place] of this.#waiting) {
      if (this.#pending.size >= MOST_REQUESTS) return;
      this.#waiting.delete(key);
      this.#fetch(key, place);
    }
  }

  /** @param {string} key @param {TilePlace} place */
  async #fetch(key, place) {
    const controller = new AbortController();
    this.#pending.set(key, controller);
    this.requests++;
    try {
      const pieces = await this.#source.pieces(
        place.track,
        tileRange(place),
        place.resolution,
        place.block * TILE_ROWS,
        TILE_ROWS,
        controller.signal,
      );
      if (this.#pending.get(key) !== controller) return; // nobody wants it any more
      this.#keep(key, makeTile(place, pieces));
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

  /** @param {string} key @param {Tile} tile */
  #keep(key, tile) {
    this.#tiles.set(key, tile);
    this.bytes += tile.bytes;
    for (const [oldest, { bytes }] of this.#tiles) {
      if (this.bytes <= this.mostBytes || oldest === key) return;
      this.#tiles.delete(oldest);
      this.bytes -= bytes;
    }
  }
}
