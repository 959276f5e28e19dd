// Draws the boxes of a flame graph. Only what is scrolled into sight is drawn, so a stack may be of any depth.
import { formatDuration } from '../format.js';

/** @typedef {import('./flame_layout.js').Box} Box */

export const ROW_HEIGHT = 19;
const TEXT_FROM = 26; // px: in a narrower box no text would tell anything
const PADDING = 4;

/**
 * @typedef {object} Look
 * @property {(box: Box) => {ground: string, text: string}} colours of a node
 * @property {string} font
 * @property {string} ground behind everything
 * @property {string} line between boxes
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

/** @param {CanvasRenderingContext2D} context @param {Box} box @param {number} y @param {Look} look @param {boolean | null} matched null: nothing is searched */
function drawNode(context, box, y, look, matched) {
  const colours = look.colours(box);
  const width = Math.max(box.width - 1, 0.5);
  // What does not match steps back, so that what does is found at a glance; its text keeps its contrast.
  const plain = matched === false;
  context.fillStyle = plain ? look.line : colours.ground;
  context.fillRect(box.x, y, width, ROW_HEIGHT - 1);
  if (matched) frame(context, box, y, look.mark);
  if (box.width < TEXT_FROM || box.node === null) return;
  const words = box.depth === 0 ? `all: ${formatDuration(box.total)}` : box.node.name;
  context.fillStyle = plain ? look.hatch : colours.text;
  context.fillText(clipped(context, words, width - 2 * PADDING), box.x + PADDING, y + ROW_HEIGHT / 2);
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
