// A list, of which one entry is in the tab order: arrows, Home and End walk through it.

/**
 * @param {HTMLElement} container
 * @param {string} selector of the entries within; may change at any time
 * @param {'vertical' | 'horizontal'} [direction]
 */
export function makeRoving(container, selector, direction = 'vertical') {
  const [back, on] = direction === 'vertical' ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight'];
  const entries = () => /** @type {HTMLElement[]} */ ([...container.querySelectorAll(selector)]);

  /** @param {HTMLElement | undefined} chosen */
  const setCurrent = (chosen) => {
    for (const entry of entries()) entry.tabIndex = entry === chosen ? 0 : -1;
  };

  container.addEventListener('focusin', (event) => {
    const entry = /** @type {Element} */ (event.target).closest(selector);
    if (entry instanceof Element && container.contains(entry)) setCurrent(/** @type {HTMLElement} */ (entry));
  });
  container.addEventListener('keydown', (event) => {
    const all = entries();
    const index = all.indexOf(/** @type {HTMLElement} */ (/** @type {Element} */ (event.target).closest(selector)));
    if (index < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const to = nextIndex(index, all.length, event.key, back, on);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    all[to].focus();
  });
  return {
    /** To be called when the entries have changed: the first, or the given one, comes into the tab order. */
    refresh(/** @type {number} */ current = 0) {
      setCurrent(entries()[current]);
    },
  };
}

/**
 * @param {number} index @param {number} count @param {string} key @param {string} back @param {string} on
 * @returns {number | null} null: it is none of the list's keys
 */
export function nextIndex(index, count, key, back, on) {
  switch (key) {
    case back:
      return Math.max(index - 1, 0);
    case on:
      return Math.min(index + 1, count - 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
