// Arrows from where a stack (of a goroutine, a fiber) was suspended to where it goes on, in the same track or another.

import { TRACK_PADDING } from './layout.js';

/** @typedef {import('../data/source.js').Switch} Switch */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */

/** More would hide the calls. */
export const MOST_ARROWS = 200;

const HEAD = 5; // CSS pixels
const BEND = 14; // how far an arrow within a track leaves its row

/**
 * Where an arrow begins and ends, in CSS pixels of the tracks' picture; null: it is not seen.
 * @param {Scene} scene @param {Switch} at
 */
export function arrowOf(scene, [fromTrack, fromTime, toTrack, toTime]) {
  const from = scene.layout.byTrack.get(fromTrack);
  const to = scene.layout.byTrack.get(toTrack);
  if (from === undefined || to === undefined) return null;
  /** @param {import('./layout.js').TrackItem} item */
  const middle = (item) => item.top + TRACK_PADDING + item.rowHeight / 2 - scene.scroll;
  const arrow = { x1: scene.xOf(fromTime), y1: middle(from), x2: scene.xOf(toTime), y2: middle(to) };
  const isBeside = arrow.x2 < 0 || arrow.x1 > scene.width;
  const isAboveOrBelow = Math.max(arrow.y1, arrow.y2) + BEND < 0 || Math.min(arrow.y1, arrow.y2) > scene.height;
  return isBeside || isAboveOrBelow ? null : arrow;
}

/**
 * How many were drawn.
 * @param {CanvasRenderingContext2D} context in device pixels @param {Scene} scene @param {Theme} theme @param {Switch[]} switches
 */
export function drawArrows(context, scene, theme, switches) {
  let drawn = 0;
  context.save();
  context.scale(scene.scale, scene.scale);
  context.lineWidth = 1.5;
  context.strokeStyle = theme.css.text;
  context.fillStyle = theme.css.text;
  for (const at of switches) {
    const arrow = arrowOf(scene, at);
    if (arrow === null) continue;
    const { x1, y1, x2, y2 } = arrow;
    const bend = y1 === y2 ? BEND : 0;
    const lean = Math.min((x2 - x1) / 2, 40);
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + lean, y1 + bend, x2 - lean, y2 + bend, x2, y2);
    context.stroke();
    drawHead(context, x2, y2, Math.atan2(-bend + (lean > 1 ? 0 : y2 - y1), lean));
    drawn++;
  }
  context.restore();
  return drawn;
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} angle in which it points */
function drawHead(context, x, y, angle) {
  context.beginPath();
  context.moveTo(x, y);
  for (const side of [-0.5, 0.5]) context.lineTo(x - HEAD * Math.cos(angle + side), y - HEAD * Math.sin(angle + side));
  context.closePath();
  context.fill();
}
