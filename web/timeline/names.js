// The names on the left: processes, threads, counters. Nodes exist only for what is seen, and stay while it is, so that the focus
// stays too. The name of a tall track sticks to the upper edge while its rows are seen.

import { button, element, fill } from '../panels/dom.js';

/** @typedef {import('../view_state.js').ViewState} ViewState */
/** @typedef {import('./layout.js').Item} Item */
/** @typedef {import('./scene.js').Scene} Scene */

const STICKY_HEIGHT = 24; // CSS pixels that a name needs

/** @param {Item} item */
function keyOf(item) {
  if (item.kind === 'process') return `p${item.pid}`;
  return item.kind === 'counter' ? `c${item.counter.id}` : `t${item.track.id}`;
}

export class Names {
  /** @type {Map<string, {node: HTMLElement, text: HTMLElement, folded: string}>} by key of what is seen */
  #shown = new Map();
  #container;
  #state;

  /** @param {HTMLElement} container @param {ViewState} state */
  constructor(container, state) {
    this.#container = container;
    this.#state = state;
  }

  /** @param {Scene} scene */
  draw(scene) {
    const seen = new Set();
    for (const item of scene.items()) {
      const key = keyOf(item);
      seen.add(key);
      const folded = String(this.#isFolded(item));
      let shown = this.#shown.get(key);
      if (shown === undefined) {
        const text = element('div', { class: 'name' });
        shown = { node: element('div', { class: `row ${item.kind}` }, text), text, folded: '' };
        this.#shown.set(key, shown);
        this.#container.append(shown.node);
      }
      if (shown.folded !== folded) {
        this.#fill(shown.text, item);
        shown.folded = folded;
      }
      const top = item.top - scene.scroll;
      shown.node.style.transform = `translateY(${top}px)`;
      shown.node.style.height = `${item.height}px`;
      const down = Math.min(Math.max(-top, 0), Math.max(item.height - STICKY_HEIGHT, 0));
      shown.text.style.transform = `translateY(${down}px)`;
    }
    for (const [key, { node }] of this.#shown)
      if (!seen.has(key)) {
        node.remove();
        this.#shown.delete(key);
      }
  }

  /** @param {Item} item */
  #isFolded(item) {
    if (item.kind === 'track') return item.folded;
    return item.kind === 'process' && item.tracks.every((id) => this.#state.folded.has(id));
  }

  /** @param {HTMLElement} text @param {Item} item */
  #fill(text, item) {
    const hadFocus = text.contains(document.activeElement);
    const folded = this.#isFolded(item);
    if (item.kind === 'counter') {
      fill(text, element('span', { class: 'words', title: item.counter.name }, item.counter.name));
      return;
    }
    const words = item.kind === 'process' ? item.name || 'process' : item.track.thread || (item.track.kind === 'hits' ? 'hits' : 'thread');
    const hits = item.kind === 'track' ? item.track.kind === 'hits' : item.isHits; // whose numbers mean nothing
    const number = hits ? 0 : item.kind === 'process' ? item.pid : item.track.tid;
    const kind = item.kind === 'process' ? 'process' : 'thread';
    const toggle = button('', () => this.#toggle(item, !folded), {
      class: 'fold',
      'aria-expanded': String(!folded),
      'aria-label': `${folded ? 'Unfold' : 'Fold'} ${kind} ${words} ${number || ''}`.trim(),
    });
    const id = element('span', { class: 'number' }, number > 0 ? String(number) : '');
    fill(text, toggle, element('span', { class: 'words', title: number > 0 ? `${words} (${kind} ${number})` : words }, words), id);
    if (hadFocus) toggle.focus();
  }

  /** @param {Item} item @param {boolean} folded */
  #toggle(item, folded) {
    const tracks = item.kind === 'process' ? item.tracks : item.kind === 'track' ? [item.track.id] : [];
    for (const id of tracks) this.#state.setFolded(id, folded);
  }
}
