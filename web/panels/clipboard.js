// Text to the clipboard. Where the browser refuses it (no secure origin, no permission) the text is shown and selected, so that
// Ctrl-C copies it.
import { element } from './dom.js';
import { openDialog } from './dialog.js';

/** @param {string} text @param {string} what it is, such as "the calls of the measured range" */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    showText(text, what);
    return false;
  }
}

/** @param {string} text @param {string} what */
function showText(text, what) {
  const area = element('textarea', { readonly: true, rows: 16, cols: 80, 'aria-label': what });
  area.value = text;
  openDialog(`Copy ${what}`, [element('p', {}, 'The browser refuses the clipboard. Press Ctrl-C, then Escape.'), area]);
  area.select();
}
