// Statistics, flame graph and calls (docs/viewer.md section 1) of tracks that the page holds itself.

import { eachOverlapping } from './embedded_search.js';
import { OffCpuTimes, isOffCpu } from './off_cpu.js';
import { FLAG_END_INFERRED, FLAG_START_INFERRED } from './source.js';

/** @typedef {import('./embedded_trace.js').Spans} Spans */
/** @typedef {import('./source.js').Range} Range */
/** @typedef {import('./source.js').Place} Place */
/** @typedef {import('./source.js').TableRow} TableRow */
/** @typedef {import('./source.js').FlameNode} FlameNode */
/** @typedef {import('./source.js').CallStatistics} CallStatistics */
/** @typedef {import('./source.js').FunctionInfo} FunctionInfo */
/** @typedef {{id: number, spans: Spans}} TrackSpans */

const ENDED_BY_GAP = 3; // of enum span_end
const ENDED_BY_TRACE = 4;

/**
 * Whether the beginning or the end of a call was not seen.
 * @param {Spans} spans @param {number} i
 */
function isCut(spans, i) {
  const flags = spans.flags[i];
  const ending = flags >> 8;
  return (flags & (FLAG_START_INFERRED | FLAG_END_INFERRED)) !== 0 || ending === ENDED_BY_GAP || ending === ENDED_BY_TRACE;
}

/**
 * Whether a call lies in the range with its beginning and end seen.
 * @param {Spans} spans @param {number} i @param {Range} range
 */
function isWhole(spans, i, range) {
  return (
    !isCut(spans, i) &&
    spans.start[i] >= range.from &&
    (spans.end[i] < range.to || (spans.end[i] === range.to && spans.start[i] < range.to))
  );
}

/**
 * How much of a span lies in the range.
 * @param {Spans} spans @param {number} i @param {Range} range
 */
function clipped(spans, i, range) {
  return Math.max(0, Math.min(spans.end[i], range.to) - Math.max(spans.start[i], range.from));
}

/**
 * Rows of all functions that are called in the range, in no order.
 * @param {TrackSpans[]} tracks @param {Range} range @param {FunctionInfo[]} functions
 */
export function tableOf(tracks, range, functions) {
  /** @type {Map<number, TableRow>} */
  const rows = new Map();
  /** @param {number} fn */
  const rowOf = (fn) => {
    const { group, name } = functions[fn];
    let row = rows.get(group);
    if (row === undefined) {
      row = { group, name, calls: 0, total: 0, self: 0, offCpu: 0, whole: 0, min: 0, max: 0, mean: 0 };
      rows.set(group, row);
    }
    return row;
  };
  for (const { spans } of tracks) {
    /**
     * Rows of the open spans, by depth. A span of length zero may be in the range whose callers end where the range begins.
     * @type {(TableRow | undefined)[]}
     */
    const open = [];
    eachOverlapping(spans, range, (i) => {
      open.length = spans.depth[i];
      const row = rowOf(spans.function[i]);
      const time = clipped(spans, i, range);
      row.calls++;
      row.self += time;
      const caller = open[open.length - 1];
      if (caller) caller.self -= time;
      if (!open.includes(row)) {
        row.total += time;
        if (isOffCpu(functions[spans.function[i]])) for (const around of new Set([...open, row])) if (around) around.offCpu += time;
      }
      open.push(row);
      if (!isWhole(spans, i, range)) return;
      const length = spans.end[i] - spans.start[i];
      row.min = row.whole === 0 ? length : Math.min(row.min, length);
      row.max = Math.max(row.max, length);
      row.mean += (length - row.mean) / ++row.whole;
    });
  }
  return [...rows.values()];
}

/** @param {number} group @param {string} name @returns {FlameNode & {nodes: Map<number, any>}} */
function makeNode(group, name) {
  return { group, name, calls: 0, total: 0, self: 0, omitted: 0, children: [], nodes: new Map() };
}

/**
 * Leaves out what is narrower than `least`, widest first.
 * @param {ReturnType<typeof makeNode>} node @param {number} least @returns {FlameNode}
 */
function prune(node, least) {
  const { nodes, ...plain } = node;
  for (const child of nodes.values()) {
    if (child.total >= least && child.total > 0) plain.children.push(prune(child, least));
    else plain.omitted += child.total;
  }
  plain.children.sort((a, b) => b.total - a.total || a.group - b.group);
  return plain;
}

/**
 * @param {TrackSpans[]} tracks @param {Range} range @param {number} share of the whole that a node must have to be in the answer
 * @param {import('./source.js').Time} wanted @param {FunctionInfo[]} functions
 */
export function flameOf(tracks, range, share, wanted, functions) {
  const root = makeNode(-1, 'all');
  for (const { spans } of tracks) {
    /** @type {(ReturnType<typeof makeNode> | undefined)[]} nodes of the open spans, by depth */
    const open = [];
    /** Depth of a span that is left out with all below it. */
    let hidden = Infinity;
    eachOverlapping(spans, range, (i) => {
      if (spans.depth[i] > hidden) return;
      hidden = Infinity;
      open.length = spans.depth[i];
      const parent = open[open.length - 1] ?? root;
      const { group, name } = functions[spans.function[i]];
      if (wanted === 'cpu' && isOffCpu(functions[spans.function[i]])) {
        const off = clipped(spans, i, range);
        for (const around of open) if (around) around.total -= off;
        if (parent !== root) {
          parent.self -= off;
          root.total -= off;
        }
        hidden = spans.depth[i];
        return;
      }
      let node = parent.nodes.get(group);
      if (node === undefined) {
        node = makeNode(group, name);
        parent.nodes.set(group, node);
      }
      const time = clipped(spans, i, range);
      node.calls++;
      node.total += time;
      node.self += time;
      if (parent === root) root.total += time;
      else parent.self -= time;
      open.push(node);
    });
  }
  return prune(root, share * root.total);
}

/**
 * Of four to a power of two, the class that a length is in: 0, 1, 2, 3 by themselves, then [4,5), ... [8,10), ...
 * @param {number} length
 */
function binOf(length) {
  if (length < 4) return length;
  const power = Math.floor(Math.log2(length));
  return 4 * (power - 1) + Math.floor((length / 2 ** power - 1) * 4);
}

/** @param {number} bin */
function binFirst(bin) {
  if (bin < 4) return bin;
  const power = Math.floor(bin / 4) + 1;
  return 2 ** power * (1 + (bin % 4) / 4);
}

const BINS = 256;

/** @param {number[]} lengths in ascending order @param {number} share */
function quantile(lengths, share) {
  return lengths[Math.max(0, Math.ceil(share * lengths.length) - 1)] ?? 0;
}

/**
 * @param {TrackSpans[]} tracks @param {Range} range @param {number} group @param {import('./source.js').CallsAsked} asked
 * @param {FunctionInfo[]} functions @returns {CallStatistics}
 */
export function callsOf(tracks, range, group, { slowest, by = 'length', lengths: listed, columns = 0 }, functions) {
  let calls = 0;
  let recursive = 0;
  let total = 0;
  let offCpu = 0;
  /** @type {import('./source.js').SlowCall[]} */
  const places = [];
  /** @type {Place[]} */
  const whole = [];
  /** @type {number[]} */
  const lengths = [];
  for (const { id, spans } of tracks) {
    /** Depth of the outermost open call; none is open where a span is as deep or less so. */
    let outermost = Infinity;
    const times = new OffCpuTimes(spans, functions);
    eachOverlapping(spans, range, (i) => {
      const depth = spans.depth[i];
      if (depth <= outermost) outermost = Infinity;
      if (functions[spans.function[i]].group !== group) return;
      calls++;
      if (outermost < Infinity) recursive++;
      else {
        total += clipped(spans, i, range);
        offCpu += times.within(Math.max(spans.start[i], range.from), Math.min(spans.end[i], range.to));
      }
      if (outermost === Infinity) outermost = depth;
      const place = { track: id, depth, start: spans.start[i], end: spans.end[i] };
      const length = place.end - place.start;
      const isWholeCall = isWhole(spans, i, range);
      if (isWholeCall) {
        lengths.push(length);
        whole.push(place);
      }
      if (!listed || (isWholeCall && length >= listed.from && length < listed.to)) places.push({ ...place, cut: isCut(spans, i), offCpu: times.within(place.start, place.end) });
    });
  }
  lengths.sort((a, b) => a - b);
  /** @param {import('./source.js').SlowCall} call */
  const length = ({ start, end, offCpu: off }) => end - start - (by === 'onCpu' ? off : 0);
  places.sort((a, b) => length(b) - length(a) || a.start - b.start);
  /** @type {Map<number, number>} */
  const bins = new Map();
  for (const length of lengths) bins.set(binOf(length), (bins.get(binOf(length)) ?? 0) + 1);
  return {
    calls,
    recursive,
    total,
    offCpu,
    whole: lengths.length,
    sum: lengths.reduce((sum, length) => sum + length, 0),
    min: lengths[0] ?? 0,
    max: lengths[lengths.length - 1] ?? 0,
    median: quantile(lengths, 0.5),
    p99: quantile(lengths, 0.99),
    histogram: [...bins].map(([bin, count]) => ({ from: binFirst(bin), to: binFirst(bin + 1), count })),
    slowest: places.slice(0, slowest),
    ...(columns > 0 ? mapOf(whole, range, columns, Math.max(0, ...tracks.map(({ spans }) => spans.end.reduce((most, end) => Math.max(most, end), 0)))) : {}),
  };
}

/** @param {Place} a @param {Place} b */
function longestFirst(a, b) {
  return b.end - b.start - (a.end - a.start) || a.start - b.start;
}

/**
 * Calls over time and length.
 * @param {Place[]} calls whole ones @param {Range} range @param {number} columns @param {number} last moment of the tracks
 * @returns {{column: number, map: import('./source.js').CallCell[]}}
 */
function mapOf(calls, range, columns, last) {
  const width = Math.max(Math.min(range.to, last + 1) - range.from, 0);
  const column = Math.floor(width / columns) + 1;
  /** @type {Map<number, Place[]>} by cell */
  const cells = new Map();
  for (const call of calls) {
    const cell = Math.floor((call.start - range.from) / column) * BINS + binOf(call.end - call.start);
    const others = cells.get(cell);
    if (others) others.push(call);
    else cells.set(cell, [call]);
  }
  const inOrder = [...cells].sort(([a], [b]) => a - b);
  return {
    column,
    map: inOrder.map(([cell, found]) => {
      const { track, depth, start, end } = found.sort(longestFirst)[0];
      return [Math.floor(cell / BINS), binFirst(cell % BINS), found.length, track, depth, start, end];
    }),
  };
}

