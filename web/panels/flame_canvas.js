// Draws the boxes of a flame graph. Only what is scrolled into sight is drawn, so a stack may be of any depth.
import { formatDuration } from '../format.js';
import { EDGED, HATCHED, INSET } from '../timeline/colours.js';

/** @typedef {import('./flame_layout.js').Box} Box */
/** @typedef {import('./flame_layout.js').FlameNode} FlameNode */

export const ROW_HEIGHT = 19;
const TEXT_FROM = 26; // px: a narrower box has no text
const PADDING = 4;

/**
 * @typedef {object} Look
 * @property {(node: FlameNode, dimmed: boolean) => {ground: string, edge: string, pattern: number}} node pattern as in
 *   timeline/colours.js
 * @property {(node: FlameNode) => string} nameOf
 * @property {(node: FlameNode) => string} [nameOfRoot] what stands in the topmost box; without, that it is all
 * @property {string} text on nodes @property {string} font
 * @property {string} ground under everything @property {string} root of the topmost box
 * @property {string} hatch of time that is left out
 * @property {string} mark around boxes that match the search @property {string} focus around the current box
 */

/**
 * @param {HTMLCanvasElement} canvas as large as what is in sight @param {Box[]} boxes
 * @param {{scroll: number, look: Look, matches: ((group: number, name: string) => boolean) | null, current: Box | null}} how
 */
export function drawFlame(canvas, boxes, { scroll, look, matches, current }) {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(scale, scale);
  context.fillStyle = look.ground;
  context.fillRect(0, 0, width, height);
  context.font = look.font;
  context.textBaseline = 'middle';
  for (const box of boxes) {
    const y = box.depth * ROW_HEIGHT - scroll;
    if (y + ROW_HEIGHT <= 0 || y >= height) continue;
    if (box.node === null) drawOmitted(context, box, y, look);
    else drawNode(context, box, y, look, matches === null ? null : box.depth > 0 && matches(box.node.group, box.node.name));
  }
  if (current !== null) frame(context, current, current.depth * ROW_HEIGHT - scroll, look.focus);
}

/** @param {CanvasRenderingContext2D} context @param {Box} box @param {number} y @param {string} colour */
function frame(context, box, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 1), ROW_HEIGHT - 3);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Box} box @param {number} y @param {Look} look
 * @param {boolean | null} matched null: nothing is searched
 */
function drawNode(context, box, y, look, matched) {
  if (box.node === null) return;
  const width = Math.max(box.width - 1, 0.5);
  if (box.depth === 0) {
    context.fillStyle = look.root;
    context.fillRect(box.x, y, width, ROW_HEIGHT - 1);
  } else {
    drawGround(context, { x: box.x, y, width }, look.node(box.node, matched === false));
  }
  if (matched) frame(context, box, y, look.mark);
  if (box.width < TEXT_FROM) return;
  const words = box.depth > 0 ? look.nameOf(box.node) : look.nameOfRoot?.(box.node) ?? `all: ${formatDuration(box.total)}`;
  context.fillStyle = look.text;
  context.fillText(clipped(context, words, width - 2 * PADDING), box.x + PADDING, y + ROW_HEIGHT / 2);
}

/**
 * The pattern shows whose code it is, as the hue does.
 * @param {CanvasRenderingContext2D} context @param {{x: number, y: number, width: number}} at
 * @param {{ground: string, edge: string, pattern: number}} colours
 */
function drawGround(context, { x, y, width }, { ground, edge, pattern }) {
  const inset = pattern === INSET ? 2 : 0;
  context.fillStyle = ground;
  context.fillRect(x, y + inset, width, ROW_HEIGHT - 1 - 2 * inset);
  context.fillStyle = edge;
  if (pattern === EDGED) context.fillRect(x, y + ROW_HEIGHT - 3, width, 2);
  if (pattern === HATCHED) for (let at = x + 3; at < x + width - 1; at += 8) context.fillRect(at, y + ROW_HEIGHT - 3, 4, 1);
}

/** @param {CanvasRenderingContext2D} context @param {Box} box @param {number} y @param {Look} look */
function drawOmitted(context, box, y, look) {
  context.save();
  context.beginPath();
  context.rect(box.x, y, Math.max(box.width - 1, 0.5), ROW_HEIGHT - 1);
  context.clip();
  context.strokeStyle = look.hatch;
  context.lineWidth = 1;
  context.globalAlpha = 0.5;
  context.beginPath();
  for (let x = box.x - ROW_HEIGHT; x < box.x + box.width; x += 6) {
    context.moveTo(x, y + ROW_HEIGHT);
    context.lineTo(x + ROW_HEIGHT, y);
  }
  context.stroke();
  context.restore();
}

/** @param {CanvasRenderingContext2D} context @param {string} words @param {number} room px */
function clipped(context, words, room) {
  const width = context.measureText(words).width;
  if (width <= room) return words;
  const letters = Math.floor((words.length * room) / width) - 1;
  return letters < 2 ? '' : `${words.slice(0, letters)}…`;
}
