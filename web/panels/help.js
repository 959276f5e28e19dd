// The dialog that lists the keys (?).
import { openDialog } from './dialog.js';
import { element } from './dom.js';

/** @type {[string, [string, string][]][]} */
const KEYS = [
  ['Moving', [
    ['W S', 'zoom in and out'],
    ['A D', 'move left and right'],
    ['Drag', 'move'],
    ['Ctrl + wheel', 'zoom at the pointer'],
    ['Shift + wheel', 'move left and right'],
    ['0', 'the whole trace'],
    ['Alt + \u2190', 'the view before the last zoom, as the browser\u2019s Back'],
    ['Home End', 'its beginning and its end'],
  ]],
  ['Spans', [
    ['Click', 'choose a span'],
    ['Arrows', 'walk to the caller, the callee, the neighbours'],
    ['F, double click', 'zoom to the span'],
    ['C', 'fold or unfold its thread'],
    ['P', 'pin its thread above all others, or no longer'],
  ]],
  ['Measuring', [
    ['Shift + drag', 'measure a range'],
    ['Drag on the ruler', 'the same'],
    ['1 2', 'what a drag does: move, measure'],
    ['M', 'put a flag under the pointer'],
  ]],
  ['Functions', [
    ['/ Ctrl + F', 'search: a name, or values that were recorded: parse(size>4096)'],
    ['N, Shift + N', 'next and previous call of the function'],
    ['Enter, Shift + Enter', 'the same, in the search box'],
    ['Ctrl + Enter', 'run the SQL'],
  ]],
  ['Page', [
    ['Escape', 'give up the span, the measured range, the panel'],
    ['Tab, arrows', 'from part to part, and within lists'],
    ['?', 'this help'],
  ]],
];

export function showHelp() {
  const groups = KEYS.map(([title, keys]) => {
    const lines = keys.flatMap(([key, words]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, words)]);
    return element('section', {}, element('h3', {}, title), element('dl', { class: 'keys' }, ...lines));
  });
  openDialog('Keys', [element('div', { class: 'help' }, ...groups)]);
}
