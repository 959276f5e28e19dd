// The DataSource of a page that a server gives (docs/viewer.md, section 3). Answers that depend on the trace alone are kept by
// the browser's own cache; only the names of functions are kept here, because everybody asks for them.

import { moduleOf } from './function_module.js';

/** @typedef {import('./source.js').DataSource} DataSource */
/** @typedef {import('./source.js').Tiles} Tiles */
/** @typedef {import('./source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('./source.js').Range} Range */
/** @typedef {Record<string, string | number | null | undefined>} Parameters */

const TILES_MAGIC = 0x3150544d; // "MTP1", little-endian
const TILES_HEADER = 16;
const TILE_SIZE = 32;

/**
 * What went wrong, in the server's words where it has any.
 * @param {Response} response
 */
async function serverError(response) {
  let words = '';
  try {
    words = String((await response.json()).error ?? '');
  } catch {
    // not the server's own answer: the status has to do
  }
  return new Error(words || `the server answered ${response.status} ${response.statusText}`.trim());
}

/**
 * The columns of a binary answer, which is little-endian, as all machines are that browsers run on.
 * @param {ArrayBuffer} buffer @returns {Tiles}
 */
export function readTiles(buffer) {
  const header = buffer.byteLength >= TILES_HEADER ? new Uint32Array(buffer, 0, 4) : null;
  if (header === null || header[0] !== TILES_MAGIC || buffer.byteLength !== TILES_HEADER + TILE_SIZE * header[1])
    throw new Error('the server sent tiles that cannot be read: is it of another version than this page? Reload the page.');
  const count = header[1];
  let at = TILES_HEADER;
  /** @template T @param {new (buffer: ArrayBuffer, at: number, count: number) => T} Type @param {number} size */
  const column = (Type, size) => {
    const values = new Type(buffer, at, count);
    at += count * size;
    return values;
  };
  return {
    more: header[2] !== 0,
    start: column(Float64Array, 8),
    end: column(Float64Array, 8),
    depth: column(Uint32Array, 4),
    function: column(Uint32Array, 4),
    spans: column(Uint32Array, 4),
    flags: column(Uint32Array, 4),
  };
}

/**
 * A range in whole ns: what the server counts in, and what differs by less has the same answer from the browser's cache.
 * @param {Range} range @returns {Range}
 */
function wholeNs({ from, to }) {
  return { from: Math.floor(from), to: Math.ceil(to) };
}

/** @implements {DataSource} */
export class HttpSource {
  /** @type {Promise<FunctionInfo[]> | null} */
  #functions = null;
  #base;

  /** @param {URL} base the address under which the server's answers are, with a slash at its end */
  constructor(base) {
    this.#base = base;
  }

  /** @param {string} name @param {Parameters} parameters @param {AbortSignal} [signal] */
  async #ask(name, parameters, signal) {
    const address = new URL(name, this.#base);
    for (const [key, value] of Object.entries(parameters))
      if (value !== null && value !== undefined) address.searchParams.set(key, String(value));
    try {
      return await fetch(address, { signal, credentials: 'omit' });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Error('the server does not answer. Is `magic-trace view` still running?');
    }
  }

  /** @param {string} name @param {Parameters} [parameters] @param {AbortSignal} [signal] */
  async #get(name, parameters = {}, signal) {
    const response = await this.#ask(name, parameters, signal);
    if (!response.ok) throw await serverError(response);
    return response;
  }

  /** @param {string} name @param {Parameters} [parameters] @param {AbortSignal} [signal] @returns {Promise<any>} */
  async #json(name, parameters, signal) {
    return (await this.#get(name, parameters, signal)).json();
  }

  /** @param {AbortSignal} [signal] */
  trace(signal) {
    return this.#json('trace', {}, signal);
  }

  functions() {
    this.#functions ??= this.#readFunctions();
    this.#functions.catch(() => (this.#functions = null));
    return this.#functions;
  }

  /** @returns {Promise<FunctionInfo[]>} */
  async #readFunctions() {
    const { functions } = await this.#json('functions');
    return functions.map((/** @type {[string, number, FunctionInfo['colour'], unknown, number, string | null]} */ [name, group, colour, , calls, file]) => ({
      name,
      group,
      colour,
      calls,
      module: moduleOf(name, file),
    }));
  }

  /** @type {DataSource['tiles']} */
  async tiles(track, range, resolution, depth, rows, signal) {
    const response = await this.#get('tiles', { track, ...wholeNs(range), resolution, depth, rows }, signal);
    return readTiles(await response.arrayBuffer());
  }

  /** @type {DataSource['span']} */
  async span(track, depth, time, signal, brief = null) {
    const place = { track, depth, time: Math.floor(time), ...(brief && { end: Math.floor(time), group: brief.group }) };
    const { span, parents } = await this.#json('span', place, signal);
    return { span, parents: parents ?? [] };
  }

  /** @type {DataSource['stack']} */
  async stack(track, time, signal) {
    return (await this.#json('stack', { track, time: Math.floor(time) }, signal)).stack;
  }

  /** @type {DataSource['table']} */
  table(range, tracks, top, sort, signal) {
    return this.#json('table', { ...wholeNs(range), tracks: tracks?.join(), top, sort }, signal);
  }

  /** @type {DataSource['flame']} */
  async flame(range, tracks, share, time, signal) {
    return (await this.#json('flame', { ...wholeNs(range), tracks: tracks?.join(), share, time }, signal)).root;
  }

  /** @type {DataSource['find']} */
  find(q, mode, limit, signal) {
    return this.#json('find', { q, mode, limit }, signal);
  }

  /** @type {DataSource['calls']} */
  calls(group, range, tracks, { slowest, by, lengths, columns }, signal) {
    const bounds = { shortest: lengths?.from, below: lengths?.to, columns: columns || undefined, by };
    return this.#json('calls', { group, ...wholeNs(range), tracks: tracks?.join(), slowest, ...bounds }, signal);
  }

  /** @type {NonNullable<DataSource['explain']>} */
  explain(group, call, signal) {
    const place = call === null ? {} : { track: call.track, time: Math.floor(call.start), depth: call.depth };
    return this.#json('explain', { group, ...place }, signal);
  }

  /** @type {NonNullable<DataSource['compare']>} */
  compare(a, b, signal) {
    const parameters = [a, b].flatMap((part, index) => {
      const side = index === 0 ? 'a' : 'b';
      const named = 'range' in part ? wholeNs(part.range) : { track: part.call.track, depth: part.call.depth, time: Math.floor(part.call.start) };
      return Object.entries({ ...named, trace: part.trace }).map(([name, value]) => [`${side}_${name}`, value]);
    });
    return this.#json('compare', Object.fromEntries(parameters), signal);
  }

  /** @type {DataSource['next']} */
  next(group, tracks, from, direction, where, signal) {
    const { track, depth, start } = from;
    return this.#json('next', { group, tracks: tracks?.join(), track, time: Math.floor(start), depth, direction, where }, signal);
  }

  /** @type {DataSource['marks']} */
  marks(range, limit, signal) {
    return this.#json('marks', { ...wholeNs(range), limit }, signal);
  }

  /** @type {DataSource['switches']} */
  switches(range, limit, signal) {
    return this.#json('switches', { ...wholeNs(range), limit }, signal);
  }

  /** @type {DataSource['stacks']} */
  stacks(limit, signal) {
    return this.#json('stacks', { limit }, signal);
  }

  /** @type {DataSource['parts']} */
  parts(range, stacks, resolution, signal) {
    return this.#json('parts', { ...wholeNs(range), stacks, resolution: Math.max(1, Math.floor(resolution)) }, signal);
  }

  /** @type {DataSource['counter']} */
  async counter(counter, range, points, signal) {
    return (await this.#json('counter', { id: counter, ...wholeNs(range), points }, signal)).samples;
  }

  /** @type {DataSource['source']} */
  async source(fn, signal) {
    return (await this.#json('source', { function: fn }, signal)).source;
  }

  /** @type {NonNullable<DataSource['heat']>} */
  async heat(fn, lines, part, signal) {
    const asked = 'call' in part
      ? { track: part.call.track, depth: part.call.depth, time: part.call.start }
      : { ...wholeNs(part.range), track: part.tracks?.length === 1 ? part.tracks[0] : undefined };
    return this.#json('heat', { function: fn, first: lines.from, last: lines.to, ...asked }, signal);
  }

  /** @type {NonNullable<DataSource['sql']>} */
  async sql(sql, limit, signal) {
    const answer = await this.#json('sql', { sql, limit }, signal);
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  /** @type {NonNullable<DataSource['raw']>} */
  async raw(signal) {
    return (await this.#get('raw', {}, signal)).arrayBuffer();
  }

  /** @type {DataSource['text']} */
  async text(track, range, limit, signal) {
    return (await this.#get('text', { track, ...wholeNs(range), limit }, signal)).text();
  }
}
