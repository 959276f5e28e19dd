// Keys that work everywhere on the page, besides those of the timeline.

/**
 * @typedef {object} Commands
 * @property {() => void} search
 * @property {() => void} next @property {() => void} previous
 * @property {() => void} flag @property {() => void} help
 * @property {() => void} back to the view before the last zoom
 * @property {() => boolean} escape false: there was nothing to close
 */

/**
 * Whether what is typed belongs to the element.
 * @param {EventTarget | null} target
 */
export function takesText(target) {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}

/** @param {Document} document @param {Commands} commands */
export function listenToKeys(document, commands) {
  document.addEventListener('keydown', (event) => {
    const command = commandOf(event);
    if (command === null || event.defaultPrevented) return;
    // Ctrl-F means the page's own search wherever one is; the others are letters in a text.
    if (takesText(event.target) && !event.ctrlKey && !event.metaKey && command !== 'escape') return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (commands[command]() !== false) event.preventDefault();
  });
}

/** @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean}} event @returns {keyof Commands | null} */
export function commandOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (altKey) return key === 'ArrowLeft' && !ctrlKey && !metaKey && !shiftKey ? 'back' : null;
  if (ctrlKey || metaKey) return key === 'f' && !shiftKey ? 'search' : null;
  switch (key) {
    case '/':
      return 'search';
    case 'n':
      return 'next';
    case 'N':
      return 'previous';
    case 'm':
    case 'M':
      return 'flag';
    case '?':
      return 'help';
    case 'Escape':
      return 'escape';
    default:
      return null;
  }
}
