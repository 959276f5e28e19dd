// The dialog that tells the keys (?).
import { openDialog } from './dialog.js';
import { element } from './dom.js';

/** @type {[string, [string, string][]][]} */
const KEYS = [
  ['Moving', [
    ['W S', 'zoom in and out'],
    ['A D', 'move left and right'],
    ['Ctrl + wheel', 'zoom at the pointer'],
    ['Drag', 'move'],
    ['Home End', 'beginning and end of the trace'],
    ['Double click', 'zoom to the span'],
  ]],
  ['Spans', [
    ['Click', 'choose a span'],
    ['Arrows', 'walk to the caller, the callee, the neighbours'],
    ['F', 'zoom to the chosen span'],
    ['Shift + drag, or drag on the ruler', 'measure a range'],
  ]],
  ['Functions', [
    ['/ or Ctrl + F', 'search'],
    ['N, Shift + N', 'next and previous call of the function'],
    ['Enter, Shift + Enter', 'the same, in the search box'],
  ]],
  ['Page', [
    ['M', 'put a flag under the pointer'],
    ['Escape', 'close the list, the panel; clear the measured range'],
    ['?', 'this help'],
  ]],
];

export function showHelp() {
  const groups = KEYS.map(([title, keys]) => element(
    'section', {}, element('h3', {}, title),
    element('dl', { class: 'keys' }, ...keys.flatMap(([key, words]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, words)])),
  ));
  openDialog('Keys', [element('div', { class: 'help' }, ...groups)]);
}
