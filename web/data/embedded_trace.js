// The trace that a page carries in itself: its form, and how it is unpacked. Written by `magic-trace export -format html`.
//
// The page holds it in an element <script type="application/json" id="trace">, whose text is one JSON object (with "<" written
// as \u003c, so that nothing in it ends the element). Times are ns since the beginning of what is shown.
//
//   version    1
//   name       what to call the trace; id: any string; duration: ns; wallClock: Unix ns at time 0 as a string, or null
//   sampled    optional: true when the spans are what samples have in common; recorded: optional, how, in words, or null
//   damage     null, or words that say what is wrong with the trace
//   functions  [[name, symbol or null, file or null, line (0: not known), address as "0x..." or null, colour], ...] by id;
//              colour is "own", "library", "kernel", "inlined" or "special". Functions of equal names become one group.
//   tracks     [{pid, tid, process, thread, kind: "thread" or "hits", spans: count, columns: base64, arguments?, values?}, ...] by id;
//              arguments, of hits: {"number of the span": {"name": value, ...}, ...}; values, of calls of which they were
//              recorded: {"number of the span": {values: [["name", "value"], ...], result: "value" or null}, ...}
//   counters   [{name, pid, unit, samples: [[time, value], ...]}, ...] by id, samples by time
//   marks      [{track, time, text, kind: "gap", "error" or "note"}, ...] by time
//   hits       [{track, start, end, name, argument (string) or null, address (string) or null}, ...] by time
//   switches   optional: [[track, time, track, time], ...] by the later time: where a stack was suspended, and where it goes on
//   stacks     optional: [{name, pid, depth}, ...] by number: of goroutines, fibers
//   parts      optional: [[stack, track, from, to], ...]: what ran on a stack are the spans of the track in that time
//   sources    optional: {"function id": {file, line, first, lines: [...]}, ...}
//
// The columns of a track hold its spans in the order in which they begin, outer before inner (numbered from 0 in that order).
// They are one run of bytes in base64 (standard alphabet, padded): for each span five unsigned LEB128 numbers
//
//   depth      0 outermost; at most one more than that of the span before
//   start      the first span's own start, later the difference to the start of the span before
//   length     end - start
//   function   id
//   flags      as Tiles.flags in source.js: bit 0 start inferred, 1 end inferred, 2 across a gap; bits 8..15 why it ended,
//              a number of enum span_end of stack/spans/span.h
//
// No number is above 2^53 - 1.

/** @typedef {import('./source.js').Track} Track */
/** @typedef {import('./source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('./source.js').SourceText} SourceText */
/** @typedef {import('./source.js').Mark} Mark */
/** @typedef {import('./source.js').Hit} Hit */
/** @typedef {Record<string, Record<string, string | number>>} Arguments of the spans of a track, by number */
/** @typedef {Record<string, {values: [name: string, value: string][], result: string | null}>} Values the same of calls */
/**
 * @typedef {{pid: number, tid: number, process: string, thread: string, kind: 'thread' | 'hits', spans: number,
 *   columns: string, arguments?: Arguments, values?: Values}} CarriedTrack
 * @typedef {[name: string, symbol: string | null, file: string | null, line: number, address: string | null,
 *   colour: FunctionInfo['colour']]} CarriedFunction
 * @typedef {{version: number, id: string, name: string, duration: number, wallClock: string | null, sampled?: boolean,
 *   recorded?: string | null, damage: string | null, functions: CarriedFunction[], tracks: CarriedTrack[],
 *   counters: {name: string, pid: number, unit: string, samples: [number, number][]}[],
 *   marks: Mark[], hits: Hit[], switches?: import('./source.js').Switch[],
 *   stacks?: {name: string, pid: number, depth: number}[], parts?: [stack: number, track: number, from: number, to: number][],
 *   sources?: Record<string, SourceText>}} CarriedTrace
 */
/**
 * The spans of a track by start, outer first. `parent` is the number of the span around, -1 for none. `innermost` order is
 * not needed: spans nest, so what holds a moment is the last that began by then, or one of its parents.
 * @typedef {{count: number, start: Float64Array, end: Float64Array, depth: Uint32Array, function: Uint32Array,
 *   flags: Uint16Array, parent: Int32Array, deepest: number, arguments: Arguments, values: Values}} Spans
 */

const VERSION = 1;

/** Numbers of enum span_end, in words. */
export const ENDINGS = ['return', 'tail call', 'unwound', 'gap', 'end of trace', 'exec', 'filter', 'switch'];

/**
 * Reads unsigned LEB128 numbers, one after the other.
 * @param {Uint8Array} bytes
 */
function numberReader(bytes) {
  let at = 0;
  return () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (at >= bytes.length || scale > 2 ** 49) throw new Error('the trace in this page is damaged: a number is cut');
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
}

/** @param {string} base64 */
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * @param {CarriedTrack} track @param {number} functions how many there are
 * @returns {Spans}
 */
export function unpackSpans(track, functions) {
  const count = track.spans;
  const bytes = bytesOf(track.columns);
  if (count * 5 > bytes.length) throw new Error('the trace in this page is damaged: spans are missing');
  const spans = {
    count,
    start: new Float64Array(count),
    end: new Float64Array(count),
    depth: new Uint32Array(count),
    function: new Uint32Array(count),
    flags: new Uint16Array(count),
    parent: new Int32Array(count),
    deepest: 0,
    arguments: track.arguments ?? {},
    values: track.values ?? {},
  };
  const next = numberReader(bytes);
  /** @type {number[]} spans open at the moment, by depth */
  const open = [];
  let time = 0;
  for (let i = 0; i < count; i++) {
    const depth = next();
    time += next();
    spans.start[i] = time;
    spans.end[i] = time + next();
    spans.function[i] = next();
    spans.flags[i] = next();
    if (depth > open.length || spans.function[i] >= functions) throw new Error('the trace in this page is damaged: a span has no parent or function');
    spans.depth[i] = depth;
    spans.parent[i] = depth === 0 ? -1 : open[depth - 1];
    open.length = depth;
    open.push(i);
    spans.deepest = Math.max(spans.deepest, depth + 1);
  }
  return spans;
}

/**
 * Of each function the smallest id that has its name.
 * @param {CarriedFunction[]} functions
 */
export function groupsOf(functions) {
  /** @type {Map<string, number>} */
  const first = new Map();
  return functions.map(([name], id) => {
    const group = first.get(name) ?? id;
    first.set(name, group);
    return group;
  });
}

/** @param {any} carried @returns {CarriedTrace} */
export function checkTrace(carried) {
  if (carried?.version !== VERSION)
    throw new Error(`the trace in this page has version ${carried?.version}, and this page reads version ${VERSION}`);
  return carried;
}
