// Writes a made trace as a file in the Fuchsia trace format, so that the real server can be asked what the page's own source is.
// Only spans, threads and their names, and switches between stacks: https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format

import { unpackSpans } from '../../web/data/embedded_trace.js';

/** @typedef {import('../../web/data/embedded_trace.js').CarriedTrace} CarriedTrace */
/** @typedef {{time: number, thread: number, name: number, kind: number, stack?: number}} Event name: 0 for ends; stack: of a switch */

const MAGIC = 0x0016547846040010n;
const BEGIN = 2;
const END = 3;

/** Begins and ends of a track in the order in which they happen. @param {import('../../web/data/embedded_trace.js').Spans} spans @param {number} thread */
function eventsOf(spans, thread) {
  /** @type {Event[]} */
  const events = [];
  /** @type {number[]} */
  const open = [];
  const close = () => events.push({ time: spans.end[/** @type {number} */ (open.pop())], thread, name: 0, kind: END });
  for (let i = 0; i < spans.count; i++) {
    while (open.length > spans.depth[i]) close();
    events.push({ time: spans.start[i], thread, name: spans.function[i] + 1, kind: BEGIN });
    open.push(i);
  }
  while (open.length > 0) close();
  return events;
}

/**
 * Gives both ends of each switch the number of a stack, which no other switch has.
 * @param {Event[]} events in their order @param {import('../../web/data/source.js').Switch[]} switches
 */
function markSwitches(events, switches) {
  switches.forEach(([fromTrack, fromTime, toTrack, toTime], i) => {
    /** @param {number} kind @param {number} track @param {number} time */
    const find = (kind, track, time) => events.find((event) => event.kind === kind && event.thread === track + 1 && event.time === time && !event.stack);
    for (const event of [find(END, fromTrack, fromTime), find(BEGIN, toTrack, toTime)]) if (event) event.stack = 2 ** 31 + i;
  });
}

/** @param {CarriedTrace} trace of which only threads are written @returns {Buffer} */
export function writeFxt(trace) {
  /** @type {bigint[]} */
  const words = [MAGIC, 1n | (2n << 4n), 1_000_000_000n];
  /** @param {number} index @param {string} text */
  const writeString = (index, text) => {
    const bytes = Buffer.from(text);
    const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8);
    bytes.copy(padded);
    words.push(2n | (BigInt(1 + padded.length / 8) << 4n) | (BigInt(index) << 16n) | (BigInt(bytes.length) << 32n));
    for (let at = 0; at < padded.length; at += 8) words.push(padded.readBigUInt64LE(at));
  };
  trace.functions.forEach(([name], id) => writeString(id + 1, name));
  const threads = trace.tracks.filter(({ kind }) => kind === 'thread');
  const firstName = trace.functions.length + 1;
  writeString(firstName, 'process');
  threads.forEach(({ pid, tid, process, thread }, i) => {
    const names = [firstName + 1 + 2 * i, firstName + 2 + 2 * i];
    writeString(names[0], process);
    writeString(names[1], thread);
    words.push(7n | (2n << 4n) | (1n << 16n) | (BigInt(names[0]) << 24n), BigInt(pid));
    words.push(7n | (4n << 4n) | (2n << 16n) | (BigInt(names[1]) << 24n) | (1n << 40n), BigInt(tid));
    words.push(8n | (2n << 4n) | (BigInt(firstName) << 16n), BigInt(pid));
    words.push(3n | (3n << 4n) | (BigInt(i + 1) << 16n), BigInt(pid), BigInt(tid));
  });
  const special = firstName + 1 + 2 * threads.length;
  writeString(special, 'special');
  writeString(special + 1, 'stack');
  const events = threads.flatMap((track, i) => eventsOf(unpackSpans(track, trace.functions.length), i + 1));
  events.sort((a, b) => a.time - b.time); // stable: those of a thread keep their order
  markSwitches(events, trace.switches ?? []);
  for (const { time, thread, name, kind, stack } of events) {
    const category = name > 0 && trace.functions[name - 1][5] === 'special' ? special : 0;
    const size = stack ? (3n << 4n) | (1n << 20n) : 2n << 4n;
    words.push(4n | size | (BigInt(kind) << 16n) | (BigInt(thread) << 24n) | (BigInt(category) << 32n) | (BigInt(name) << 48n), BigInt(time));
    if (stack) words.push(2n | (1n << 4n) | (BigInt(special + 1) << 16n) | (BigInt(stack) << 32n));
  }
  const file = Buffer.alloc(words.length * 8);
  words.forEach((word, i) => file.writeBigUInt64LE(word, i * 8));
  return file;
}
