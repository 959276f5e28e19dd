// A dialog over the page: Escape closes it, and what had the focus before gets it back (the browser's own <dialog> does both).
import { button, element } from './dom.js';

/** @param {string} title @param {Node[]} content */
export function openDialog(title, content) {
  const heading = element('h2', { id: 'dialog-title' }, title);
  const close = button('Close', () => dialog.close(), { class: 'close' });
  const dialog = element('dialog', { 'aria-labelledby': 'dialog-title', class: 'panels-dialog' }, heading, ...content, close);
  dialog.addEventListener('close', () => dialog.remove());
  // Keys in the dialog are no commands to the page under it.
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
