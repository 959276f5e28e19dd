// Counters as step charts: from each sample on its value, and where several samples share a pixel the range of their values.

import { formatValue } from '../format.js';

/** @typedef {import('../data/source.js').Counter} Counter */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./theme.js').Theme} Theme */
/** @typedef {[number, number, number, number]} Sample time, min, max, last */

const MARGIN = 4; // CSS pixels above and below

/**
 * The lowest and highest value of a view; 0 belongs to them, so that heights can be compared.
 * @param {Sample[]} samples @param {{from: number, to: number}} view
 */
export function valueRange(samples, view) {
  let low = 0;
  let high = 0;
  samples.forEach(([time, min, max], i) => {
    const next = samples[i + 1]?.[0] ?? Infinity;
    if (time >= view.to || next <= view.from) return;
    low = Math.min(low, min);
    high = Math.max(high, max);
  });
  return { low, high: high > low ? high : low + 1 };
}

/**
 * @param {CanvasRenderingContext2D} context in device pixels @param {Scene} scene @param {Theme} theme
 * @param {{top: number, height: number, counter: Counter}} item @param {Sample[]} samples
 */
export function drawCounter(context, scene, theme, item, samples) {
  const { scale, view } = scene;
  const { low, high } = valueRange(samples, view);
  const top = (item.top - scene.scroll + MARGIN) * scale;
  const height = (item.height - 2 * MARGIN) * scale;
  const right = scene.width * scale;
  /** @param {number} value */
  const y = (value) => top + height * (1 - (value - low) / (high - low));
  const base = y(0);
  /** @param {number} time */
  const x = (time) => Math.min(Math.max(scene.xOf(time) * scale, 0), right);
  context.beginPath();
  const fill = new Path2D();
  samples.forEach(([time, min, max, last], i) => {
    const from = x(time);
    const to = i + 1 < samples.length ? x(samples[i + 1][0]) : right;
    if (to <= 0 || from >= right) return;
    fill.rect(from, Math.min(base, y(last)), to - from, Math.abs(base - y(last)));
    if (max > min) context.rect(from, y(max), Math.max(scale, Math.min(to - from, scale)), Math.max(y(min) - y(max), scale));
    context.rect(from, y(last) - scale / 2, to - from, scale);
  });
  context.fillStyle = theme.css['accent-ground'];
  context.fill(fill);
  context.fillStyle = theme.css.accent;
  context.fill();
  const highest = formatValue(high, item.counter.unit);
  context.fillStyle = theme.css.ground;
  context.fillRect(0, top - 2 * scale, context.measureText(highest).width + 8 * scale, 14 * scale);
  context.fillStyle = theme.css['text-weak'];
  context.fillText(highest, 4 * scale, top + 5 * scale);
  context.fillStyle = theme.css.line;
  context.fillRect(0, (item.top + item.height - scene.scroll) * scale - 1, right, 1);
}
