// Mouse, pen and touch on the timeline. Dragging the tracks moves the view, dragging the ruler or with Shift measures a range (the
// other way round in the mode "measure"); Ctrl + wheel and pinching zoom, Shift + wheel moves, the wheel alone scrolls the tracks.

import { panned, zoomed } from './motion.js';
import { RULER_HEIGHT } from './scene.js';

/** @typedef {{x: number, y: number}} Point CSS pixels from the upper left corner of the ruler */
/**
 * @typedef {object} Actions
 * @property {() => import('../data/source.js').Range} view
 * @property {(range: import('../data/source.js').Range) => void} setView
 * @property {(x: number) => number} timeAt
 * @property {() => number} width of the tracks, CSS pixels
 * @property {(by: number) => void} scroll CSS pixels
 * @property {(point: Point) => Point} beginMeasuring where the range begins that is measured from a point
 * @property {(from: Point, to: Point) => void} measure
 * @property {(point: Point) => void} click
 * @property {(point: Point) => void} doubleClick
 * @property {(point: Point | null) => void} hover null: the pointer has left
 * @property {() => 'pan' | 'measure'} mode
 */

const CLICK_ROOM = 4; // CSS pixels that a click may move
const LINE = 18; // CSS pixels of a line, for wheels that count lines
const ZOOM_PER_PIXEL = 1.0022;

/** @param {HTMLElement} target what takes the events @param {Actions} actions */
export function listenToPointer(target, actions) {
  /** @type {Map<number, Point>} by id of the pointers that are down */
  const down = new Map();
  /** @type {{start: Point, last: Point, measureFrom: Point | null, moved: boolean} | null} measureFrom null: the view is moved */
  let drag = null;

  /** @param {MouseEvent} event @returns {Point} */
  const pointOf = (event) => {
    const { left, top } = target.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  /** @param {Point} before @param {Point} now @param {Point} other the finger that did not move */
  const pinch = (before, now, other) => {
    const distance = Math.max(Math.abs(now.x - other.x), 8);
    const factor = Math.max(Math.abs(before.x - other.x), 8) / distance;
    const middle = (now.x + other.x) / 2;
    const shifted = panned(actions.view(), (before.x - now.x) / 2 / actions.width());
    actions.setView(zoomed(shifted, factor, actions.timeAt(middle)));
    actions.scroll((before.y - now.y) / 2);
  };

  /** @param {Point} point */
  const continueDrag = (point) => {
    if (drag === null) return;
    drag.moved ||= Math.hypot(point.x - drag.start.x, point.y - drag.start.y) > CLICK_ROOM;
    if (!drag.moved) return;
    if (drag.measureFrom) actions.measure(drag.measureFrom, point);
    else {
      actions.setView(panned(actions.view(), (drag.last.x - point.x) / actions.width()));
      actions.scroll(drag.last.y - point.y);
    }
    drag.last = point;
  };

  target.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    target.focus({ preventScroll: true });
    target.setPointerCapture(event.pointerId);
    const point = pointOf(event);
    down.set(event.pointerId, point);
    if (down.size > 1) {
      drag = null;
      return;
    }
    const measure = point.y < RULER_HEIGHT || event.shiftKey !== (actions.mode() === 'measure');
    drag = { start: point, last: point, measureFrom: measure ? actions.beginMeasuring(point) : null, moved: false };
  });
  target.addEventListener('pointermove', (event) => {
    const point = pointOf(event);
    const before = down.get(event.pointerId);
    if (before !== undefined) down.set(event.pointerId, point);
    if (before !== undefined && down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId);
      if (other) pinch(before, point, other[1]);
      return;
    }
    continueDrag(point);
    target.classList.toggle('dragging', drag !== null && drag.moved && drag.measureFrom === null);
    actions.hover(point);
  });
  /** @param {PointerEvent} event */
  const end = (event) => {
    down.delete(event.pointerId);
    target.classList.remove('dragging');
    if (drag !== null && !drag.moved && event.type === 'pointerup') actions.click(pointOf(event));
    drag = null;
  };
  target.addEventListener('pointerup', end);
  target.addEventListener('pointercancel', end);
  target.addEventListener('pointerleave', () => actions.hover(null));
  target.addEventListener('dblclick', (event) => actions.doubleClick(pointOf(event)));
  target.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 400;
      const x = event.deltaX * unit;
      const y = event.deltaY * unit;
      if (event.ctrlKey || event.metaKey) {
        actions.setView(zoomed(actions.view(), ZOOM_PER_PIXEL ** y, actions.timeAt(pointOf(event).x)));
        return;
      }
      const across = event.shiftKey ? x + y : x;
      if (across !== 0) actions.setView(panned(actions.view(), across / actions.width()));
      if (!event.shiftKey && y !== 0) actions.scroll(y);
    },
    { passive: false },
  );
}
