// The DataSource of a page that carries its trace in itself (embedded_trace.js says in which form): an exported HTML file,
// which has no server. It holds all spans in arrays and computes each answer from them, by the definitions of docs/viewer.md section 1.

import { moduleOf } from './function_module.js';
import { tilesOf } from './embedded_tiles.js';
import { briefSpanAt, chain, eachOverlapping, spanAt, stackAt } from './embedded_search.js';
import { callsOf, flameOf, tableOf } from './embedded_statistics.js';
import { ENDINGS, checkTrace, groupsOf, unpackSpans } from './embedded_trace.js';
import { OffCpuTimes, isOffCpu } from './off_cpu.js';
import { FLAG_ACROSS_GAP, FLAG_END_INFERRED, FLAG_START_INFERRED } from './source.js';

/** @typedef {import('./embedded_trace.js').Spans} Spans */
/** @typedef {import('./source.js').DataSource} DataSource */
/** @typedef {import('./source.js').FunctionInfo} FunctionInfo */
/** @typedef {import('./source.js').Place} Place */
/** @typedef {import('./source.js').Range} Range */
/** @typedef {import('./source.js').Track} Track */

/**
 * At most `limit` of the items, evenly taken, the first among them.
 * @template T @param {T[]} items @param {number} limit
 */
function thin(items, limit) {
  if (items.length <= limit) return items;
  return Array.from({ length: limit }, (_, i) => items[Math.floor((i * items.length) / limit)]);
}

/**
 * Of the last item for which `test` holds; -1 when there is none.
 * @template T @param {T[]} items @param {(item: T) => boolean} test
 */
function lastIndex(items, test) {
  let i = items.length - 1;
  while (i >= 0 && !test(items[i])) i--;
  return i;
}

/** @param {{track: number, depth: number, start: number}} a @param {{track: number, depth: number, start: number}} b */
function compareCalls(a, b) {
  return a.start - b.start || a.depth - b.depth || a.track - b.track;
}

/** @implements {DataSource} */
export class EmbeddedSource {
  #trace;
  /** @type {Spans[]} by track */
  #spans;
  /** @type {FunctionInfo[]} */
  #functions;
  /** @type {Track[]} */
  #tracks;
  /** @type {Map<number, Place[]>} calls of a group, in their order; made when asked for */
  #calls = new Map();

  /** @param {unknown} carried what the page's element holds, parsed */
  constructor(carried) {
    const trace = checkTrace(carried);
    this.#trace = trace;
    this.#spans = trace.tracks.map((track) => unpackSpans(track, trace.functions.length));
    this.#tracks = trace.tracks.map(({ pid, tid, process, thread, kind }, id) => {
      const { count, start, end, deepest, depth } = this.#spans[id];
      let last = 0;
      for (let i = 0; i < count; i++) if (depth[i] === 0) last = Math.max(last, end[i]);
      return { id, pid, tid, process, thread, kind, spans: count, depth: deepest, first: count > 0 ? start[0] : 0, last };
    });
    this.#functions = this.#countCalls(groupsOf(trace.functions));
  }

  /** @param {number[]} groups by function id */
  #countCalls(groups) {
    const calls = new Float64Array(groups.length);
    for (const { kind, id } of this.#tracks) if (kind === 'thread') this.#spans[id].function.forEach((fn) => calls[groups[fn]]++);
    return this.#trace.functions.map(([name, , file, , , colour], id) => ({
      name,
      group: groups[id],
      colour,
      calls: calls[groups[id]],
      module: moduleOf(name, file),
    }));
  }

  /** @param {number} id */
  #spansOf(id) {
    const spans = this.#spans[id];
    if (spans === undefined) throw new Error(`the trace has no track ${id}`);
    return spans;
  }

  /** @param {number[] | null} tracks null: all but those of hits */
  #chosen(tracks) {
    const ids = tracks ?? this.#tracks.filter(({ kind }) => kind === 'thread').map(({ id }) => id);
    return ids.map((id) => ({ id, spans: this.#spansOf(id) }));
  }

  async trace() {
    const { id, name, duration, wallClock, sampled = false, recorded = null, damage, counters, marks, switches = [] } = this.#trace;
    return {
      id,
      name,
      duration,
      wallClock,
      sampled,
      recorded,
      damage,
      replaced: null,
      spans: this.#tracks.reduce((sum, track) => sum + track.spans, 0),
      canPerfetto: false,
      tracks: this.#tracks,
      counters: counters.map((counter, number) => ({ id: number, name: counter.name, pid: counter.pid, unit: counter.unit })),
      markCount: marks.length,
      switchCount: switches.length,
    };
  }

  async functions() {
    return this.#functions;
  }

  /** @type {DataSource['tiles']} */
  async tiles(track, range, resolution, depth, rows) {
    return tilesOf(this.#spansOf(track), range, resolution, depth, rows);
  }

  /** @param {Spans} spans @param {number} i */
  #entry(spans, i) {
    return { depth: spans.depth[i], start: spans.start[i], end: spans.end[i], function: spans.function[i] };
  }

  /** @type {DataSource['span']} */
  async span(track, depth, time, _signal, brief = null) {
    const spans = this.#spansOf(track);
    /** @param {number} fn */
    const isMeant = (fn) => brief?.group === undefined || this.#functions[fn].group === brief.group;
    const found = brief === null ? -1 : briefSpanAt(spans, depth, time, isMeant);
    const i = found >= 0 ? found : spanAt(spans, depth, time);
    if (i < 0) return { span: null, parents: [] };
    const [name, symbol, file, line, address] = this.#trace.functions[spans.function[i]];
    const flags = spans.flags[i];
    let children = 0;
    let inside = 0;
    for (let child = i + 1; child < spans.count && spans.depth[child] > depth; child++) {
      if (spans.depth[child] !== depth + 1) continue;
      children++;
      inside += spans.end[child] - spans.start[child];
    }
    const span = {
      ...this.#entry(spans, i),
      track,
      self: spans.end[i] - spans.start[i] - inside,
      offCpu: new OffCpuTimes(spans, this.#functions).within(spans.start[i], spans.end[i]),
      children,
      name,
      symbol,
      file,
      line,
      address,
      beganInferred: (flags & FLAG_START_INFERRED) !== 0,
      endInferred: (flags & FLAG_END_INFERRED) !== 0,
      acrossGap: (flags & FLAG_ACROSS_GAP) !== 0,
      ended: ENDINGS[flags >> 8] ?? ENDINGS[0],
      arguments: spans.arguments[i] ?? {},
      values: spans.values[i]?.values ?? [],
      result: spans.values[i]?.result ?? null,
    };
    return { span, parents: chain(spans, spans.parent[i]).map((parent) => this.#entry(spans, parent)) };
  }

  /** @type {DataSource['stack']} */
  async stack(track, time) {
    const spans = this.#spansOf(track);
    return stackAt(spans, time).map((i) => this.#entry(spans, i));
  }

  /** @type {DataSource['table']} */
  async table(range, tracks, top, sort) {
    const rows = tableOf(this.#chosen(tracks), range, this.#functions);
    /** @param {typeof rows[number]} row */
    const key = (row) => (sort === 'onCpu' ? row.total - row.offCpu : row[sort]);
    rows.sort((a, b) => key(b) - key(a) || a.group - b.group);
    const omitted = rows.slice(top);
    /** @param {typeof rows} some */
    const self = (some) => some.reduce((sum, row) => sum + row.self, 0);
    return { rows: rows.slice(0, top), omittedRows: omitted.length, omittedSelf: self(omitted), time: self(rows), offCpu: self(rows.filter(({ group }) => isOffCpu(this.#functions[group]))) };
  }

  /** @type {DataSource['flame']} */
  async flame(range, tracks, share, time) {
    return flameOf(this.#chosen(tracks), range, share, time, this.#functions);
  }

  /** @type {DataSource['find']} */
  async find(query, mode, limit) {
    const lower = query.toLowerCase();
    let expression = /(?:)/;
    try {
      if (mode === 'regex') expression = new RegExp(query);
    } catch {
      throw new Error(`“${query}” is no regular expression`);
    }
    const matches = this.#functions
      .filter(({ name, group }, id) => id === group && (mode === 'regex' ? expression.test(name) : name.toLowerCase().includes(lower)))
      .map(({ group, name, calls }) => ({ group, name, calls }))
      .sort((a, b) => b.calls - a.calls || a.group - b.group);
    return { matches: matches.slice(0, limit), total: matches.length };
  }

  /** @type {DataSource['calls']} */
  async calls(group, range, tracks, asked) {
    return callsOf(this.#chosen(tracks), range, group, asked, this.#functions);
  }

  /**
   * All calls of a group, in the order of next and previous.
   * @param {number} group
   */
  #callsOfGroup(group) {
    let calls = this.#calls.get(group);
    if (calls !== undefined) return calls;
    calls = [];
    this.#spans.forEach((spans, track) => {
      for (let i = 0; i < spans.count; i++)
        if (this.#functions[spans.function[i]].group === group)
          calls?.push({ track, depth: spans.depth[i], start: spans.start[i], end: spans.end[i] });
    });
    calls.sort(compareCalls);
    this.#calls.set(group, calls);
    return calls;
  }

  /** @type {DataSource['next']} */
  async next(group, tracks, from, direction, _where) {
    const wanted = new Set(this.#chosen(tracks).map(({ id }) => id));
    const calls = this.#callsOfGroup(group).filter(({ track }) => wanted.has(track));
    const at =
      direction === 'next'
        ? calls.findIndex((call) => compareCalls(call, from) > 0)
        : lastIndex(calls, (call) => compareCalls(call, from) < 0);
    return { call: calls[at] ?? null, ordinal: at + 1, of: calls.length };
  }

  /** @type {DataSource['marks']} */
  async marks(range, limit) {
    const marks = this.#trace.marks.filter(({ time }) => time >= range.from && time < range.to);
    const hits = this.#trace.hits.filter(({ start, end }) => end >= range.from && start < range.to);
    return { marks: thin(marks, limit), hits: thin(hits, limit), more: marks.length > limit || hits.length > limit };
  }

  /** @type {DataSource['switches']} */
  async switches(range, limit) {
    const found = (this.#trace.switches ?? []).filter(([, , , time]) => time >= range.from && time < range.to);
    return { switches: thin(found, limit), more: found.length > limit };
  }

  /** Stacks with their numbers in the trace, the busiest first. */
  #busiest() {
    const { stacks = [], parts = [] } = this.#trace;
    const sums = stacks.map(({ name, pid, depth }, number) => ({ number, name, pid, depth, parts: 0, running: 0, first: Infinity, last: 0 }));
    for (const [stack, , from, to] of parts) {
      const sum = sums[stack];
      sum.parts++;
      sum.running += to - from;
      sum.first = Math.min(sum.first, from);
      sum.last = Math.max(sum.last, to);
    }
    return sums.filter((sum) => sum.parts > 0).sort((a, b) => b.running - a.running || a.number - b.number);
  }

  /** @type {DataSource['stacks']} */
  async stacks(limit) {
    const stacks = this.#busiest();
    return { stacks: stacks.slice(0, limit).map(({ number, ...stack }) => stack), total: stacks.length };
  }

  /** @type {DataSource['parts']} */
  async parts(range, stacks) {
    const places = new Map(this.#busiest().slice(0, stacks).map(({ number }, place) => [number, place]));
    /** @type {import('./source.js').StackPart[]} */
    const found = [];
    for (const [stack, track, from, to] of this.#trace.parts ?? []) {
      const place = places.get(stack);
      if (place !== undefined && from < range.to && to > range.from) found.push([place, track, from, to]);
    }
    return { parts: found };
  }

  /** @type {DataSource['counter']} */
  async counter(counter, { from, to }, points) {
    const { samples } = this.#trace.counters[counter];
    const before = lastIndex(samples, ([time]) => time <= from);
    const width = (to - from) / points;
    /** @type {[number, number, number, number][]} */
    const result = [];
    let bin = -1;
    for (const [time, value] of samples.slice(Math.max(before, 0))) {
      if (time >= to) break;
      const own = time <= from ? -1 : Math.floor((time - from) / width);
      const last = result[result.length - 1];
      if (last === undefined || own !== bin) result.push([time, value, value, value]);
      else result[result.length - 1] = [last[0], Math.min(last[1], value), Math.max(last[2], value), value];
      bin = own;
    }
    return result;
  }

  /** @type {DataSource['source']} */
  async source(fn) {
    return this.#trace.sources?.[fn] ?? null;
  }

  /** @type {DataSource['text']} */
  async text(track, range, limit) {
    const spans = this.#spansOf(track);
    /** @type {string[]} */
    const lines = [];
    let left = 0;
    eachOverlapping(spans, range, (i) => {
      if (lines.length >= limit) left++;
      else lines.push(`${'  '.repeat(spans.depth[i])}${this.#functions[spans.function[i]].name}  ${spans.end[i] - spans.start[i]} ns`);
    });
    if (left > 0) lines.push(`... and ${left} more calls`);
    return lines.join('\n') + '\n';
  }
}
