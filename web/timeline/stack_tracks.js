// Tracks of stacks (of goroutines, fibers): below the threads of a process, each stack that was suspended or resumed has a track that
// shows its calls wherever they ran. What is drawn are the tiles of the threads' tracks, in the times in which they ran on that stack.

/** @typedef {import('../data/source.js').Place} Place */
/** @typedef {import('../data/source.js').Range} Range */
/** @typedef {import('../data/source.js').Stack} Stack */
/** @typedef {import('../data/source.js').StackPart} StackPart */
/** @typedef {import('../data/source.js').Track} Track */
/** @typedef {import('./scene.js').Scene} Scene */
/**
 * @typedef {Range & {track: number | null}} Run a time, and the thread's track whose spans are shown in it; null: several, too short to
 *   be distinguished
 * @typedef {{runs: Run[], function: number}} StackRuns of a track's stack, by time: those near the view; function: that it runs
 */

/** So many of the busiest are shown. */
export const MOST_STACKS = 100;
/** The ids of threads' tracks are below. */
const FIRST_ID = 2 ** 31;

/**
 * @param {Stack[]} stacks by number @param {Track[]} threads @param {import('../data/source.js').FunctionInfo[]} functions
 * @returns {Track[]}
 */
export function tracksOfStacks(stacks, threads, functions) {
  const processes = new Map(threads.map(({ pid, process }) => [pid, process]));
  const ids = new Map(functions.map(({ name }, id) => [name, id]));
  return stacks.map(({ name, pid, parts, depth, first, last }, number) => ({
    id: FIRST_ID + number,
    pid,
    tid: number + 1,
    process: processes.get(pid) ?? '',
    thread: name,
    spans: parts,
    depth,
    first,
    last,
    kind: 'stack',
    onStack: { runs: [], function: ids.get(name) ?? 0 },
  }));
}

/**
 * Gives the tracks of stacks the parts that an answer has.
 * @param {Track[]} tracks @param {StackPart[]} parts
 */
export function placeParts(tracks, parts) {
  for (const { onStack } of tracks) if (onStack) onStack.runs = [];
  for (const [stack, track, from, to] of parts) tracks[stack]?.onStack?.runs.push({ track, from, to });
  for (const { onStack } of tracks) onStack?.runs.sort((a, b) => a.from - b.from);
}

/**
 * What a track shows of a range: of a thread all of it, of a stack the times in which it ran.
 * @param {Track} track @param {Range} range @returns {Run[]}
 */
export function runsOf({ id, onStack }, { from, to }) {
  if (onStack === undefined) return [{ track: id, from, to }];
  return onStack.runs
    .filter((run) => run.from < to && run.to > from)
    .map((run) => ({ track: run.track, from: Math.max(run.from, from), to: Math.min(run.to, to) }));
}

/**
 * Whether a run is too short for its calls to be seen.
 * @param {Run} run @param {number} nsPerPixel
 */
export function isShort({ track, from, to }, nsPerPixel) {
  return track === null || to - from < nsPerPixel;
}

/**
 * Where a span is shown: in the track of its thread, and in that of its stack if that is seen.
 * @param {Scene} scene @param {Place} place @returns {{item: import('./layout.js').TrackItem, from: number, to: number}[]}
 */
export function placesOf(scene, { track, start, end }) {
  const own = scene.layout.byTrack.get(track);
  const found = own === undefined ? [] : [{ item: own, from: start, to: end }];
  for (const item of scene.items())
    if (item.kind === 'track' && item.track.onStack)
      for (const run of runsOf(item.track, { from: start, to: end })) if (run.track === track) found.push({ item, from: run.from, to: run.to });
  return found;
}
