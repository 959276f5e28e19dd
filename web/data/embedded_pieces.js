// Pieces (docs/viewer.md section 1) of a track that the page holds itself.

import { beginBefore, chain, overlaps } from './embedded_search.js';

/** @typedef {import('./embedded_trace.js').Spans} Spans */
/** @typedef {import('./source.js').Pieces} Pieces */
/** @typedef {import('./source.js').Range} Range */
/**
 * @typedef {{start: number, end: number, depth: number, function: number, spans: number, flags: number, longest: number}} Piece
 * @typedef {{bin: number, seen: boolean, piece: Piece}} Bin the spans of one bin at one depth so far; seen: one overlaps the range
 */

/** @param {Spans} spans @param {number} i @returns {Piece} */
function single(spans, i) {
  const start = spans.start[i];
  const end = spans.end[i];
  return { start, end, depth: spans.depth[i], function: spans.function[i], spans: 1, flags: spans.flags[i], longest: end - start };
}

/** @param {Piece} piece @param {Piece} other that begins later, or at the same time but behind it */
function merge(piece, other) {
  piece.end = Math.max(piece.end, other.end);
  piece.spans++;
  piece.flags = 0;
  if (other.longest <= piece.longest) return;
  piece.longest = other.longest;
  piece.function = other.function;
}

/** @param {Piece[]} pieces by start, outer first @returns {Pieces} */
function columns(pieces) {
  /** @param {Exclude<keyof Piece, 'longest'>} name */
  const numbers = (name) => Uint32Array.from(pieces, (piece) => piece[name]);
  return {
    more: false,
    start: Float64Array.from(pieces, (piece) => piece.start),
    end: Float64Array.from(pieces, (piece) => piece.end),
    depth: numbers('depth'),
    function: numbers('function'),
    spans: numbers('spans'),
    flags: numbers('flags'),
  };
}

/**
 * @param {Spans} spans @param {Range} range @param {number} resolution @param {number} depth the first row @param {number} rows
 * @returns {Pieces}
 */
export function piecesOf(spans, range, resolution, depth, rows) {
  /** @type {Piece[]} */
  const pieces = [];
  /** @type {Map<number, Bin>} by depth: the bin that is being filled */
  const bins = new Map();
  /** @param {Bin | undefined} bin */
  const finish = (bin) => {
    if (bin?.seen) pieces.push(bin.piece);
  };
  /** @param {number} i */
  const take = (i) => {
    const level = spans.depth[i];
    if (level < depth || level >= depth + rows) return;
    const seen = overlaps(spans, i, range);
    const piece = single(spans, i);
    if (piece.longest >= resolution) {
      if (seen) pieces.push(piece);
      return;
    }
    const number = Math.floor(piece.start / resolution);
    const open = bins.get(level);
    if (open?.bin === number) {
      merge(open.piece, piece);
      open.seen ||= seen;
      return;
    }
    finish(open);
    bins.set(level, { bin: number, seen, piece });
  };

  // A span that is merged may reach into the range from the bin before; what is longer lies around the first that is looked at.
  const firstTime = (Math.floor(range.from / resolution) - 1) * resolution;
  const lastTime = Math.ceil(range.to / resolution) * resolution;
  const first = beginBefore(spans, firstTime);
  chain(spans, first - 1)
    .filter((i) => spans.end[i] - spans.start[i] >= resolution)
    .forEach(take);
  for (let i = first; i < spans.count && spans.start[i] < lastTime; i++) take(i);
  bins.forEach(finish);
  pieces.sort((a, b) => a.start - b.start || a.depth - b.depth);
  return columns(pieces);
}
