// What the page asks of a trace, and nothing else: a DataSource answers, be it the server (http.js) or the page itself
// (embedded.js, of an exported file). What each answer means is defined in docs/viewer.md, section 1. Times are
// numbers: ns since the beginning of the trace.

/**
 * @typedef {{id: number, pid: number, tid: number, process: string, thread: string, spans: number, depth: number,
 *   first: number, last: number, kind: 'thread' | 'hits' | 'stack', onStack?: import('../timeline/stack_tracks.js').StackRuns}} Track
 *   stack: made by the page of a Stack, which onStack belongs to; a source has none
 * @typedef {{id: number, name: string, pid: number, unit: string}} Counter
 * @typedef {{id: string, name: string, duration: number, wallClock: string | null, spans: number, sampled: boolean,
 *   recorded: string | null, damage: string | null, replaced: string | null,
 *   canPerfetto: boolean, tracks: Track[], counters: Counter[], markCount: number, switchCount: number,
 *   compared?: Pair | null}} TraceInfo
 * @typedef {{letter: 'a' | 'b', otherName: string, otherDuration: number}} Pair two traces are compared: which of them this is, and the other
 * @typedef {{name: string, group: number, colour: 'own' | 'library' | 'kernel' | 'inlined' | 'special', calls: number,
 *   module: string}} FunctionInfo module: its source file, or what its name says; '': not known
 * @typedef {{track: number, depth: number, start: number, end: number, group?: number}} Place where a span is; enough to find it again.
 *   group: its function's, where that is known: of less than a ns, several may lie at one place
 * @typedef {{depth: number, start: number, end: number, function: number}} StackEntry
 * @typedef {Place & {self: number, offCpu: number, children: number, function: number, name: string, symbol: string | null, file: string | null,
 *   line: number, address: string | null, beganInferred: boolean, endInferred: boolean, acrossGap: boolean, ended: string,
 *   arguments: Record<string, string | number>, values: [name: string, value: string][], result: string | null,
 *   unnamed?: string | null}} SpanDetails unnamed: what would give the function a name, where it has none; not in an exported page
 *   arguments: of a hit of the trigger; values, result: arguments and result of a call, where they were recorded
 * @typedef {{from: number, to: number}} Range [from, to)
 * @typedef {{group: number, name: string, calls: number, total: number, self: number, offCpu: number, whole: number, min: number,
 *   max: number, mean: number}} TableRow offCpu, here and below: ns of total, or of the call, in which the thread was not running
 * @typedef {{group: number, name: string, calls: number, total: number, self: number, omitted: number,
 *   children: FlameNode[]}} FlameNode
 * @typedef {Place & {cut: boolean, offCpu: number}} SlowCall cut: its beginning or end was not seen
 * @typedef {{calls: number, recursive: number, total: number, offCpu: number, whole: number, sum: number, min: number, max: number,
 *   median: number, p99: number, histogram: {from: number, to: number, count: number}[], slowest: SlowCall[], column?: number,
 *   map?: CallCell[]}} CallStatistics column: ns of a column of the map
 * @typedef {[column: number, shortest: number, calls: number, track: number, depth: number, start: number, end: number]} CallCell
 *   calls that begin in the same column of time and whose lengths are in the same bin of the histogram; the last four: the longest
 * @typedef {{slowest: number, by?: CallOrder, lengths?: Range, columns?: number}} CallsAsked how many of the longest are listed, and by
 *   what; lengths: of whole calls that take [from, to) ns alone; columns: of the map, 0 or none for no map
 * @typedef {'length' | 'onCpu'} CallOrder
 * @typedef {'cpu' | 'wall'} Time cpu: without the time in which threads were not running
 * @typedef {{share: number, extra: number, words: string, path: number[], place: Place | null}} Cause share: of all extra time; extra:
 *   ns; path: functions, from the explained one to where the time is; place: of the longest call of the function that is named
 * @typedef {{refused: string | null, heading: string, causes: Cause[], slow: Place, usual: Place}} Explanation refused: why there is none
 * @typedef {({range: Range} | {call: Place & {group?: number}}) & {trace?: 'a' | 'b'}} Part of a trace: of this one where none is named;
 *   group: the function, where it is known
 * @typedef {{difference: number, words: string, path?: number[], place: Place | null}} Difference difference: ns, of B less A; place: of its
 *   longest call in B
 * @typedef {[parent: number, group: number | null, callsA: number, selfA: number, totalA: number, callsB: number, selfB: number, totalB: number]} ComparedNode
 *   group null: all threads
 * @typedef {{a: {time: number, outside: number}, b: {time: number, outside: number}, causes: Difference[], parting: Parting,
 *   nodes: ComparedNode[], foreign: [number: number, name: string][]}} Comparison foreign: functions that this trace has not, and the
 *   numbers that stand for them
 * @typedef {{words: string, a?: NextCall, b?: NextCall}} Parting after which calls both part, and how each goes on
 * @typedef {{words: string, place: Place | null}} NextCall
 * @typedef {{track: number, time: number, text: string, kind: 'gap' | 'error' | 'note'}} Mark
 * @typedef {{track: number, start: number, end: number, name: string, argument: string | null, address: string | null}} Hit
 *   track: that of hits, on which it has a span
 * @typedef {[fromTrack: number, fromTime: number, toTrack: number, toTime: number]} Switch a stack (of a goroutine, a fiber) that
 *   was suspended goes on
 * @typedef {{name: string, pid: number, parts: number, running: number, first: number, last: number, depth: number}} Stack of a
 *   goroutine, a fiber, a thread's own: one that was suspended or resumed. name: of the function that it runs; running: ns in its parts
 * @typedef {[stack: number, track: number | null, from: number, to: number]} StackPart what ran on a stack: the spans of the track in that
 *   time; track null: several parts, too short to be distinguished
 * @typedef {{file: string, line: number, first: number, lines: string[]}} SourceText
 * @typedef {{refused: string | null, executed: number, byTime: boolean, lines: [line: number, count: number, instructions: number][],
 *   branches: [line: number, taken: number, notTaken: number][], calls: [line: number, name: string, count: number, group: number | null][]}} SourceHeat
 *   how often lines ran, conditional jumps of them went each way, and calls were made; refused: why that is not known; byTime: what
 *   belongs to the part is as exact as times are
 * @typedef {{columns: string[], rows: (number | string | null)[][], more: boolean}} SqlAnswer
 */

/**
 * Tiles of one request, by column; all arrays have the same length. By start, outer first.
 * @typedef {{more: boolean, start: Float64Array, end: Float64Array, depth: Uint32Array, function: Uint32Array,
 *   spans: Uint32Array, flags: Uint32Array}} Tiles
 */

/** Bits of Tiles.flags; bits 8 to 15 say why a single span ended (the names are those of SpanDetails.ended). */
export const FLAG_START_INFERRED = 1;
export const FLAG_END_INFERRED = 2;
export const FLAG_ACROSS_GAP = 4;

/**
 * Every method may throw an Error whose message is for the user. When `signal` is aborted the request ends and the answer
 * is an AbortError; who can answer at once may ignore it. `tracks` null: all but those of hits.
 * @typedef {object} DataSource
 * @property {() => Promise<TraceInfo>} trace
 * @property {() => Promise<FunctionInfo[]>} functions by id
 * @property {(track: number, range: Range, resolution: number, depth: number, rows: number, signal?: AbortSignal) => Promise<Tiles>} tiles
 * @property {(track: number, depth: number, time: number, signal?: AbortSignal, brief?: {group?: number} | null) =>
 *   Promise<{span: SpanDetails | null, parents: StackEntry[]}>} span brief: one of no length, of that group, is meant, if there is one
 * @property {(track: number, time: number, signal?: AbortSignal) => Promise<StackEntry[]>} stack
 * @property {(range: Range, tracks: number[] | null, top: number, sort: 'self' | 'total' | 'calls' | 'max' | 'onCpu', signal?: AbortSignal) =>
 *   Promise<{rows: TableRow[], omittedRows: number, omittedSelf: number, time: number, offCpu: number}>} table
 * @property {(range: Range, tracks: number[] | null, share: number, time: Time, signal?: AbortSignal) => Promise<FlameNode>} flame
 * @property {(query: string, mode: 'text' | 'regex', limit: number, signal?: AbortSignal) =>
 *   Promise<{matches: {group: number, name: string, calls: number}[], total: number}>} find a query such as "parse(size>4096)" finds
 *   calls by their recorded values
 * @property {(group: number, range: Range, tracks: number[] | null, asked: CallsAsked, signal?: AbortSignal) => Promise<CallStatistics>} calls
 * @property {(group: number, tracks: number[] | null, from: Place, direction: 'next' | 'previous', where: string | null,
 *   signal?: AbortSignal) => Promise<{call: Place | null, ordinal: number, of: number}>} next where: of the calls whose values fulfil
 *   it alone, as in `find`
 * @property {(range: Range, limit: number, signal?: AbortSignal) => Promise<{marks: Mark[], hits: Hit[], more: boolean}>} marks
 * @property {(range: Range, limit: number, signal?: AbortSignal) => Promise<{switches: Switch[], more: boolean}>} switches those
 *   after which a stack goes on in the range
 * @property {(limit: number, signal?: AbortSignal) => Promise<{stacks: Stack[], total: number}>} stacks by number, the busiest first
 * @property {(range: Range, stacks: number, resolution: number, signal?: AbortSignal) => Promise<{parts: StackPart[]}>} parts of the
 *   first so many stacks; shorter ones than `resolution` ns may be put together
 * @property {(counter: number, range: Range, points: number, signal?: AbortSignal) => Promise<[number, number, number, number][]>} counter
 *   time, min, max, last
 * @property {(fn: number, signal?: AbortSignal) => Promise<SourceText | null>} source null: not on this machine
 * @property {(fn: number, lines: Range, part: {range: Range, tracks: number[] | null} | {call: Place}, signal?: AbortSignal) =>
 *   Promise<SourceHeat>} [heat] of the source text's lines, both ends included; of a range (of one thread, where tracks are one), or of
 *   one call; where there is a server
 * @property {(group: number, call: Place | null, signal?: AbortSignal) => Promise<Explanation>} [explain] why a call, or the slow ones,
 *   took longer than usual; where there is a server
 * @property {(a: Part, b: Part, signal?: AbortSignal) => Promise<Comparison>} [compare] what differs; where there is a server
 * @property {(sql: string, limit: number, signal?: AbortSignal) => Promise<SqlAnswer>} [sql] where there is a server
 * @property {((signal?: AbortSignal) => Promise<ArrayBuffer>)} [raw] the trace file itself, when info.canPerfetto
 * @property {(track: number, range: Range, limit: number, signal?: AbortSignal) => Promise<string>} text the calls as an indented tree
 */
