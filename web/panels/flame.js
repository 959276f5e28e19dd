// The flame graph of a range: which stacks the time went to, upside down, or of one function its callers or callees. A click zooms into a node; omitted time is shown as such.
import { formatCounted, formatDuration, formatShare } from '../format.js';
import { makePanel, showCallsOf } from './context.js';
import { button, element, fill } from './dom.js';
import { drawFlame, ROW_HEIGHT } from './flame_canvas.js';
import { boxAt, boxOfPath, layoutFlame, matchedTime, neighbourOf, nodeAt, pathOf } from './flame_layout.js';
import { flameLook } from './flame_look.js';
import { matcherOf } from './name_matcher.js';
import { Question } from './question.js';
import { flameView } from './flame_views.js';
import { makeRangeControl } from './range_choice.js';
import { makeTimeControl, timeOf } from './time_choice.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./flame_layout.js').Box} Box */
/** @typedef {import('../data/source.js').FlameNode} FlameNode */

/** Nodes below this share of the drawn node are not asked for: half a pixel of a wide screen. */
const SHARE = 1 / 4000;
const SMALLEST_SHARE = 1e-7;
/** What is narrow in a stack may add up in another view. */
const SHARE_OF_VIEWS = 1e-6;

class FlameGraph {
  /** @type {FlameNode | null} the stacks, as they were answered */
  #stacks = null;
  /** @type {FlameNode | null} what is shown of them */
  #root = null;
  /** @type {number | null} the function whose callers or callees are shown */
  #group = null;
  /**
   * Path of the node that fills the width.
   * @type {number[]}
   */
  #zoom = [];
  /** @type {Box[]} */
  #boxes = [];
  /** @type {Box | null} the one that the keyboard is at */
  #current = null;
  #frame = 0;

  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.canvas = element('canvas', {
      tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label': 'Flame graph: arrows walk, Enter zooms',
      keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
    this.question = new Question('Adding up the stacks', this.canvas);
    this.spacer = element('div', { class: 'flame-spacer' }, this.canvas);
    this.scroll = element('div', { class: 'flame', scroll: () => this.#drawSoon() }, this.spacer);
    this.tip = element('div', { class: 'flame-tip', hidden: true });
    this.status = element('p', { class: 'quiet flame-status', role: 'status' });
    this.matched = element('span', { class: 'quiet', role: 'status' });
    this.out = button('Zoom out', () => this.#zoomTo(this.#zoom.slice(0, -1)), { disabled: true });
    this.whole = button('Reset zoom', () => this.#zoomTo([]), { disabled: true });
    this.calls = button('All calls', () => this.#showCalls(), { disabled: true });
    this.view = this.#makeViews();
    this.bar = element('div', { class: 'bar' }, this.view, makeRangeControl(context.ranges), makeTimeControl(context), this.out, this.whole, this.calls, this.matched);
    this.content = [this.bar, this.question.element, this.scroll, this.status, this.tip];
    this.#listen();
  }

  #listen() {
    const { state } = this.context;
    this.canvas.addEventListener('pointermove', (event) => this.#point(event));
    this.canvas.addEventListener('pointerleave', () => (this.tip.hidden = true));
    this.canvas.addEventListener('click', (event) => this.#click(event));
    this.canvas.addEventListener('dblclick', () => this.#showCalls());
    new ResizeObserver(() => this.#layout()).observe(this.scroll);
    state.addEventListener('search', () => {
      if (this.#usesGroup && this.#groupOfInterest() !== this.#group) this.showView();
      this.#drawSoon();
    });
    state.addEventListener('theme', () => this.#drawSoon());
    this.context.colours.addEventListener('change', () => this.#drawSoon());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#drawSoon());
  }

  /** Of which one is chosen. */
  #makeViews() {
    const { state } = this.context;
    const view = element('select', { 'aria-label': 'View of the stacks' });
    view.addEventListener('change', () => state.setFlame(/** @type {import('../view_state.js').FlameView} */ (view.value)));
    const show = () => {
      const name = this.#groupOfInterest() === null ? 'a function' : this.context.names.of(this.#groupOfInterest() ?? 0);
      /** @type {[string, string][]} */
      const views = [['stacks', 'Stacks'], ['upside-down', 'Upside down'], ['callers', `Callers of ${name}`], ['callees', `Callees of ${name}`]];
      fill(view, ...views.map(([value, words]) => element('option', { value }, words)));
      view.value = state.flame;
    };
    for (const event of ['flame', 'search', 'names']) state.addEventListener(event, show);
    this.context.chosen.addEventListener('details', show);
    show();
    return view;
  }

  get #usesGroup() {
    return this.context.state.flame === 'callers' || this.context.state.flame === 'callees';
  }

  /** The function that is searched for; while there is none, that of the chosen span. */
  #groupOfInterest() {
    const { state, chosen, functions } = this.context;
    return state.search.group ?? (chosen.details && functions[chosen.details.function].group);
  }

  /** Shows the stacks in the view that is chosen. */
  showView() {
    const { state, names } = this.context;
    this.#group = this.#groupOfInterest();
    if (this.#stacks === null) return;
    const lacksGroup = this.#usesGroup && this.#group === null;
    this.#root = flameView(this.#stacks, state.flame, this.#group);
    if (nodeAt(this.#root, this.#zoom) === null) this.#zoom = [];
    const what = this.#usesGroup && this.#group !== null && this.#root.total === 0 ? `${names.of(this.#group)} is on no stack of the range.` : '';
    this.status.textContent = lacksGroup ? 'Choose a function to see its callers or callees: by the search box, or a click on a span.' : what;
    this.#layout();
  }

  update() {
    const { source, ranges, state } = this.context;
    const node = this.#root === null ? null : nodeAt(this.#root, this.#zoom);
    const part = node === null || !this.#root ? 1 : node.total / this.#root.total;
    const share = state.flame === 'stacks' ? Math.max(SHARE * part, SMALLEST_SHARE) : SHARE_OF_VIEWS;
    this.question.run(
      (signal) => source.flame(ranges.range(), ranges.tracks(), share, timeOf(this.context), signal),
      (root) => {
        this.#stacks = root;
        this.showView();
      },
    );
  }

  /** @param {number[]} path */
  #zoomTo(path) {
    this.#zoom = path;
    this.#layout();
    // A narrow node has children that were too narrow to be asked for before.
    if (this.#boxes.some((box) => box.node === null)) this.update();
  }

  #layout() {
    const root = this.#root;
    const width = this.scroll.clientWidth;
    if (root === null || width === 0) return;
    const path = this.#current && pathOf(this.#current);
    this.#boxes = layoutFlame(root, this.#zoom, width);
    this.#current = path && boxOfPath(this.#boxes, path);
    const rows = this.#boxes.reduce((most, box) => Math.max(most, box.depth + 1), 0);
    this.spacer.style.setProperty('height', `${rows * ROW_HEIGHT}px`);
    this.out.disabled = this.whole.disabled = this.#zoom.length === 0;
    this.#drawSoon();
  }

  #drawSoon() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    const root = this.#root;
    if (root === null || this.scroll.clientWidth === 0) return;
    this.canvas.style.setProperty('height', `${this.scroll.clientHeight}px`);
    // In the view of one function everything is about it.
    const matches = this.#usesGroup ? null : matcherOf(this.context.state.search);
    drawFlame(this.canvas, this.#boxes, {
      scroll: this.scroll.scrollTop, look: flameLook(this.context.functions, this.context.names, this.context.colours), matches, current: this.#current,
    });
    this.matched.textContent = matches === null ? '' : `Searched functions: ${formatShare(matchedTime(root, matches), root.total)}`;
  }

  /** @param {MouseEvent} event */
  #boxOf(event) {
    return boxAt(this.#boxes, event.offsetX, Math.floor((event.offsetY + this.scroll.scrollTop) / ROW_HEIGHT));
  }

  /**
   * What a box is, in words: its name, then what is known of it.
   * @param {Box} box @returns {[string, string]}
   */
  #words(box) {
    const of = `${formatDuration(box.total)}, ${formatShare(box.total, this.#root?.total ?? 0)} of the range${timeOf(this.context) === 'cpu' ? ', on-CPU' : ''}`;
    if (box.node === null) return ['Left out', `${of}: calls too short to be drawn; zoom into the function above to see them`];
    if (box.parent === null) return ['All', `${of}`];
    const ofParent = box.parent.parent === null ? '' : `, ${formatShare(box.total, box.parent.total)} of its caller`;
    return [this.context.names.of(box.node.group), `${of}${ofParent}; self ${formatDuration(box.node.self)}; ${formatCounted(box.node.calls, 'call')}`];
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const box = this.#boxOf(event);
    this.tip.hidden = box === null;
    if (box === null) return;
    const [name, words] = this.#words(box);
    fill(this.tip, element('strong', {}, name), words);
    const left = Math.min(event.clientX + 12, window.innerWidth - this.tip.offsetWidth - 8);
    const below = event.clientY + 16;
    const top = below + this.tip.offsetHeight > window.innerHeight ? event.clientY - this.tip.offsetHeight - 10 : below;
    this.tip.style.setProperty('left', `${Math.max(left, 4)}px`);
    this.tip.style.setProperty('top', `${top}px`);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const box = this.#boxOf(event);
    if (box === null) return;
    this.#setCurrent(box);
    this.#zoomTo(pathOf(box));
  }

  /** @param {Box} box */
  #setCurrent(box) {
    this.#current = box;
    this.calls.disabled = box.node === null || box.parent === null;
    this.status.textContent = this.#words(box).join(': ');
    const top = box.depth * ROW_HEIGHT;
    const lowest = top + ROW_HEIGHT - this.scroll.clientHeight;
    this.scroll.scrollTop = Math.max(Math.min(this.scroll.scrollTop, top), lowest);
    this.#drawSoon();
  }

  #showCalls() {
    const { state } = this.context;
    const box = this.#current;
    if (box !== null && box.node !== null && box.parent !== null) showCallsOf(state, box.node.group, box.node.name);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const current = this.#current ?? this.#boxes[0];
    if (current === undefined) return;
    if (event.key.startsWith('Arrow')) this.#setCurrent(neighbourOf(this.#boxes, current, event.key));
    else if (event.key === 'Enter') this.#zoomTo(pathOf(current));
    else if (event.key === 'Backspace') this.#zoomTo(this.#zoom.slice(0, -1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** @param {Context} context */
export function makeFlamePanel(context) {
  const graph = new FlameGraph(context);
  return makePanel(context, {
    name: 'flame', title: 'Flame graph', content: graph.content, update: () => graph.update(), on: [[context.ranges, 'range'], [context.state, 'flame'], [context.state, 'time']],
  });
}
