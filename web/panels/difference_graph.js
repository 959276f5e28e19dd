// A differential flame graph: a box is as wide as the time of both sides together, and its colour says which of them takes more (Gregg,
// "Differential Flame Graphs", 2014).
import { formatCounted, formatDuration } from '../format.js';
import { mix } from '../timeline/colours.js';
import { readTheme } from '../timeline/theme.js';
import { differenceOf } from './difference_tree.js';
import { button, element } from './dom.js';
import { drawFlame, ROW_HEIGHT } from './flame_canvas.js';
import { boxAt, boxOfPath, layoutFlame, neighbourOf, nodeAt, pathOf } from './flame_layout.js';
import { css, flameLook } from './flame_look.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./difference_tree.js').DifferenceNode} DifferenceNode */
/** @typedef {import('./flame_layout.js').Box} Box */
/** @typedef {import('../timeline/colours.js').Rgb} Rgb */

/** Of a box that only one side has; the same in both themes, and distinct for those who cannot see red or green. */
const MORE = /** @type {Rgb} */ ([0.9, 0.45, 0.1]);
const LESS = /** @type {Rgb} */ ([0.2, 0.5, 0.9]);

export class DifferenceGraph {
  /** @type {DifferenceNode | null} */
  #root = null;
  /** @type {number[]} */
  #zoom = [];
  /** @type {Box[]} */
  #boxes = [];
  /** @type {Box | null} */
  #current = null;
  /** @type {{of: (group: number) => string}} of functions */
  #names;

  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.#names = context.names;
    this.canvas = element('canvas', {
      tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label': 'Flame graph of the difference: arrows walk, Enter zooms',
      keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
    this.canvas.addEventListener('click', (event) => this.#choose(this.#boxOf(event), true));
    this.canvas.addEventListener('pointermove', (event) => {
      const box = this.#boxOf(event);
      this.canvas.title = box === null ? '' : this.#words(box);
    });
    this.out = button('Zoom out', () => this.zoomTo(this.#zoom.slice(0, -1)), { disabled: true });
    this.status = element('p', { class: 'quiet', role: 'status' });
    const legend = element('span', { class: 'quiet' }, 'orange: B takes more; blue: A does; as wide as both together');
    this.element = element('div', { class: 'difference' }, element('div', { class: 'bar' }, this.out, legend), this.canvas, this.status);
    new ResizeObserver(() => this.#layout()).observe(this.element);
    context.state.addEventListener('theme', () => this.#layout());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#layout());
  }

  /** @param {DifferenceNode} root @param {{of: (group: number) => string}} names of its functions */
  show(root, names) {
    this.#root = root;
    this.#names = names;
    this.#zoom = [];
    this.#current = null;
    this.status.textContent = '';
    this.#layout();
  }

  /** @param {number[]} path */
  zoomTo(path) {
    if (this.#root === null || nodeAt(this.#root, path) === null) return;
    this.#zoom = path;
    this.#layout();
    this.#choose(boxOfPath(this.#boxes, path), false);
  }

  #layout() {
    const width = this.element.clientWidth;
    if (this.#root === null || width === 0) return;
    const path = this.#current && pathOf(this.#current);
    this.#boxes = layoutFlame(this.#root, this.#zoom, width);
    this.#current = path && boxOfPath(this.#boxes, path);
    const rows = this.#boxes.reduce((most, box) => Math.max(most, box.depth + 1), 0);
    this.canvas.style.setProperty('height', `${rows * ROW_HEIGHT}px`);
    this.out.disabled = this.#zoom.length === 0;
    this.#draw();
  }

  #draw() {
    const { functions, names, colours } = this.context;
    const ofBoth = this.#names;
    const { spans } = readTheme(document.body);
    const look = flameLook(functions, names, colours);
    drawFlame(this.canvas, this.#boxes, {
      scroll: 0, matches: null, current: this.#current,
      look: {
        ...look,
        node: (node) => {
          const difference = differenceOf(/** @type {DifferenceNode} */ (node));
          const share = Math.sqrt(Math.abs(difference) / Math.max(node.total, 1));
          const colour = mix(spans.ground, difference < 0 ? LESS : MORE, 0.12 + 0.75 * (difference === 0 ? 0 : share));
          return { ground: css(difference === 0 ? mix(spans.ground, [0.5, 0.5, 0.5], 0.2) : colour), edge: look.hatch, pattern: 0 };
        },
        nameOf: ({ group }) => ofBoth.of(group),
        nameOfRoot: ({ group }) => (group < 0 ? 'all threads' : ofBoth.of(group)),
        text: look.focus,
      },
    });
  }

  /** @param {Box} box */
  #words(box) {
    if (box.node === null) return 'left out';
    const node = /** @type {DifferenceNode} */ (box.node);
    const name = node.group < 0 ? 'All threads' : this.#names.of(node.group);
    const difference = differenceOf(node);
    return `${name}: A ${formatDuration(node.totalA)} in ${formatCounted(node.callsA, 'call')}, B ${formatDuration(node.totalB)} in ${formatCounted(node.callsB, 'call')}, ` +
      `${difference < 0 ? '−' : '+'}${formatDuration(Math.abs(difference))}`;
  }

  /** @param {MouseEvent} event */
  #boxOf(event) {
    return boxAt(this.#boxes, event.offsetX, Math.floor(event.offsetY / ROW_HEIGHT));
  }

  /** @param {Box | null} box @param {boolean} zooms */
  #choose(box, zooms) {
    if (box === null) return;
    this.#current = box;
    this.status.textContent = this.#words(box);
    if (zooms) {
      this.#zoom = pathOf(box);
      this.#layout();
    } else this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const current = this.#current ?? this.#boxes[0];
    if (current === undefined) return;
    if (event.key.startsWith('Arrow')) this.#choose(neighbourOf(this.#boxes, current, event.key), false);
    else if (event.key === 'Enter') this.#choose(current, true);
    else if (event.key === 'Backspace') this.zoomTo(this.#zoom.slice(0, -1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
