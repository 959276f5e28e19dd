// Dragging in the minimap: the view as a whole, one of its edges, or, beside it, to where it shall be.

/** @typedef {import('../data/source.js').Range} Range */

const EDGE = 6; // CSS pixels

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{view: () => Range, setView: (range: Range) => void, timeAt: (x: number) => number}} actions
 */
export function listenToMinimap(canvas, { view, setView, timeAt }) {
  /** @type {{part: 'from' | 'to' | 'all', grip: number} | null} grip: from the view's beginning to the pointer, ns */
  let drag = null;

  /** @param {MouseEvent} event */
  const xOf = (event) => event.clientX - canvas.getBoundingClientRect().left;

  /** @param {number} x @returns {'from' | 'to' | 'all'} */
  const partAt = (x) => {
    const { from, to } = view();
    const room = timeAt(EDGE) - timeAt(0);
    if (to - from < 4 * room) return 'all'; // too narrow for its edges to be meant
    const time = timeAt(x);
    if (Math.abs(time - from) <= room) return 'from';
    return Math.abs(time - to) <= room ? 'to' : 'all';
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const { from, to } = view();
    const x = xOf(event);
    const time = timeAt(x);
    const part = partAt(x);
    const inside = time >= from && time <= to;
    drag = { part, grip: part === 'all' && inside ? time - from : (to - from) / 2 };
    if (part === 'all' && !inside) setView({ from: time - drag.grip, to: time - drag.grip + to - from });
  });
  canvas.addEventListener('pointermove', (event) => {
    const x = xOf(event);
    canvas.classList.toggle('on-edge', partAt(x) !== 'all');
    if (drag === null) return;
    const time = timeAt(x);
    const { from, to } = view();
    if (drag.part === 'all') setView({ from: time - drag.grip, to: time - drag.grip + to - from });
    else if (drag.part === 'from' && time < to) setView({ from: time, to });
    else if (drag.part === 'to' && time > from) setView({ from, to: time });
  });
  const end = () => {
    drag = null;
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
}
