// The names on the left: processes, threads, counters, with buttons that fold and pin them. Nodes exist only for what is seen, and stay while it is, so that the focus
// stays too. The name of a tall track sticks to the upper edge while its rows are seen.

import { formatCounted } from '../format.js';
import { button, element, fill } from '../panels/dom.js';
import { PINNED_PID } from './layout.js';

/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('./layout.js').Item} Item */
/** @typedef {import('./layout.js').TrackItem} TrackItem */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('../data/source.js').Track} Track */

const STICKY_HEIGHT = 24; // CSS pixels that a name needs

/** @param {Item} item */
function keyOf(item) {
  if (item.kind === 'process') return `${item.isStacks ? 's' : 'p'}${item.pid}`;
  return item.kind === 'counter' ? `c${item.counter.id}` : `t${item.track.id}`;
}

export class Names {
  /** @type {Map<string, {node: HTMLElement, text: HTMLElement, looks: string}>} by key of what is seen */
  #shown = new Map();
  #state;
  /** Shown when no track is left. */
  #none = element('p', { class: 'hint none', role: 'status', hidden: true }, 'No track has that in its name.');
  /** The number of spans of the busiest track. */
  #busiest;

  /** @param {HTMLElement} container @param {ViewState} state @param {Track[]} tracks */
  constructor(container, state, tracks) {
    this.#state = state;
    this.#busiest = tracks.reduce((most, { spans }) => Math.max(most, spans), 1);
    container.append(this.#none);
  }

  /** @param {Scene} scene */
  draw(scene) {
    const items = scene.items();
    const seen = new Set(items.map(keyOf));
    for (const [key, { node }] of this.#shown)
      if (!seen.has(key)) {
        node.remove();
        this.#shown.delete(key);
      }
    this.#none.hidden = scene.layout.matching > 0 || this.#state.filter === '';
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    /** @type {Element} */
    let before = this.#none;
    for (const item of items) {
      const key = keyOf(item);
      const looks = this.#looksOf(item);
      let shown = this.#shown.get(key);
      if (shown === undefined) {
        const text = element('div', { class: 'name' });
        shown = { node: element('div', { class: `row ${item.kind}` }, text), text, looks: '' };
        this.#shown.set(key, shown);
      }
      // Tab goes through them as they stand.
      if (shown.node.previousElementSibling !== before) before.after(shown.node);
      before = shown.node;
      if (shown.looks !== looks) {
        this.#fill(shown.text, item);
        shown.looks = looks;
      }
      const top = item.top - scene.scroll;
      shown.node.style.transform = `translateY(${top}px)`;
      shown.node.style.height = `${item.height}px`;
      const down = Math.min(Math.max(-top, 0), Math.max(item.height - STICKY_HEIGHT, 0));
      shown.text.style.transform = `translateY(${down}px)`;
    }
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
  }

  /**
   * All of an item that decides what its name and buttons are.
   * @param {Item} item
   */
  #looksOf(item) {
    const more = item.kind === 'track' ? [item.pinned, item.hidden, this.#state.tall.has(item.track.id)] : [];
    return [this.#isFolded(item), ...more].join();
  }

  /** @param {Item} item */
  #isFolded(item) {
    if (item.kind === 'track') return item.folded;
    return item.kind === 'process' && item.tracks.every((id) => this.#state.folded.has(id));
  }

  /** @param {HTMLElement} text @param {Item} item */
  #fill(text, item) {
    const focused = text.contains(document.activeElement) ? document.activeElement?.className : undefined;
    if (item.kind === 'counter') {
      fill(text, element('span', { class: 'words', title: item.counter.name }, item.counter.name));
      return;
    }
    const folded = this.#isFolded(item);
    const { words, number, kind, title } = wordsOf(item);
    const named = `${kind} ${words} ${number || ''}`.trim();
    const toggle = button('', () => this.#toggle(item, !folded), {
      class: 'fold', 'aria-expanded': String(!folded), 'aria-label': `${folded ? 'Unfold' : 'Fold'} ${named}`,
    });
    const id = element('span', { class: 'number' }, number > 0 ? String(number) : '');
    const track = item.kind === 'track' ? this.#trackTools(item, named) : [];
    fill(text, toggle, element('span', { class: 'words', title }, words), id, ...track);
    if (focused) /** @type {HTMLElement | null} */ (text.querySelector(`.${focused}`))?.focus();
  }

  /**
   * How busy the track is, and what pins it, and shows its lowest rows.
   * @param {TrackItem} item @param {string} named
   */
  #trackTools({ track, pinned, hidden }, named) {
    const state = this.#state;
    const { id, spans, kind } = track;
    const tall = state.tall.has(id);
    const pin = button('', () => state.setPinned(id, !pinned), {
      class: 'pin', 'aria-pressed': String(pinned), 'aria-label': `Pin ${named}`, title: pinned ? 'Back to its place' : 'Pin it above all others (P)',
    });
    const words = tall ? 'fewer rows' : `${formatCounted(hidden, 'row')} more`;
    const rows = button(words, () => state.setTall(id, !tall), { class: 'rows', 'aria-label': `${words} of ${named}` });
    const activity = element('span', { class: 'activity', title: formatCounted(spans, kind === 'stack' ? 'part' : 'span') });
    activity.style.setProperty('--share', String(Math.log(spans + 1) / Math.log(this.#busiest + 1)));
    return [pin, activity, ...(hidden > 0 || tall ? [rows] : [])];
  }

  /** @param {Item} item @param {boolean} folded */
  #toggle(item, folded) {
    const tracks = item.kind === 'process' ? item.tracks : item.kind === 'track' ? [item.track.id] : [];
    for (const id of tracks) this.#state.setFolded(id, folded);
  }
}

/**
 * What an item is called. number: of the process or thread; 0: it has none.
 * @param {import('./layout.js').ProcessItem | TrackItem} item
 */
function wordsOf(item) {
  if (item.kind === 'process') {
    const words = item.name || 'process';
    if (item.isStacks) return { words, number: 0, kind: 'tracks', title: 'What ran on each stack, in whichever thread: the busiest' };
    const number = item.isHits || item.pid === PINNED_PID ? 0 : item.pid;
    return { words, number, kind: item.pid === PINNED_PID ? 'tracks' : 'process', title: number > 0 ? `${words} (process ${number})` : words };
  }
  const { kind, thread, process, tid, pid } = item.track;
  const words = thread || (kind === 'hits' ? 'hits' : 'thread');
  if (kind === 'stack') return { words, number: tid, kind, title: `${words} (stack ${tid} of ${process || 'process'} ${pid}; 1 is the busiest)` };
  const number = kind === 'hits' ? 0 : tid; // those of hits mean nothing
  return { words, number, kind: 'thread', title: number > 0 ? `${words} (thread ${number} of ${process || 'process'} ${pid})` : words };
}
