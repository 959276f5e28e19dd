// What the lines of the source text cost: how often each ran, its share of the instructions as colour, which way its branches went, and
// what it called, which leads to these calls.
import { formatCount, formatCounted, formatShare } from '../format.js';
import { showCallsOf } from './context.js';
import { button, element, fill } from './dom.js';

/** @typedef {import('../data/source.js').SourceHeat} SourceHeat */
/** @typedef {import('../view_state.js').ViewState} ViewState */

/** Jumps and calls that are shown beside a line; the tooltip has as many again. */
const SHOWN_OF_LINE = 4;

/**
 * The two columns that a line of the text has, empty until its heat is known.
 * @param {string} words of the line
 */
export function makeSourceLine(words) {
  const count = element('span', { class: 'runs' });
  const notes = element('span', { class: 'notes' });
  // A line without text has a height all the same.
  const node = element('li', {}, count, element('code', {}, words === '' ? ' ' : words), notes);
  return { node, count, notes };
}

/** @typedef {ReturnType<typeof makeSourceLine>} SourceLine */

/** @template {[number, ...unknown[]]} Row @param {Row[]} rows by line @returns {Map<number, Row[]>} */
function byLine(rows) {
  /** @type {Map<number, Row[]>} */
  const found = new Map();
  for (const row of rows) {
    const known = found.get(row[0]);
    if (known) known.push(row);
    else found.set(row[0], [row]);
  }
  return found;
}

/** @param {SourceHeat['branches'][number]} branch */
function branchWords([, taken, notTaken]) {
  if (taken === 0) return `never jumps (${formatCount(notTaken)})`;
  if (notTaken === 0) return `always jumps (${formatCount(taken)})`;
  return `jumps ${formatCount(taken)} of ${formatCount(taken + notTaken)}`;
}

const BRANCH_TITLE = 'A conditional jump that this line was compiled to. Which way of an if or a loop is the jump, the compiler chose.';

/** @param {SourceHeat['branches'][number]} branch */
function makeBranch(branch) {
  const [, taken, notTaken] = branch;
  const oneWay = taken === 0 || notTaken === 0;
  const title = oneWay ? `${BRANCH_TITLE} Its other way was never taken.` : BRANCH_TITLE;
  return element('span', { class: oneWay ? 'branch one-way' : 'branch', title }, branchWords(branch));
}

/** @param {ViewState} state @param {SourceHeat['calls'][number]} call */
function makeCall(state, [, name, count, group]) {
  const words = `→ ${name} ×${formatCount(count)}`;
  if (group === null) return element('span', { class: 'called' }, words);
  return button(words, () => showCallsOf(state, group, name), { class: 'called', title: `Show the calls of ${name}` });
}

/** @template Item @param {Item[]} items @param {(item: Item) => Node} make @param {string} what */
function shortened(items, make, what) {
  const shown = items.slice(0, SHOWN_OF_LINE).map(make);
  if (items.length > SHOWN_OF_LINE) shown.push(element('span', { class: 'quiet' }, `and ${formatCounted(items.length - SHOWN_OF_LINE, `more ${what}`)}`));
  return shown;
}

/**
 * Shows the heat of lines, or takes what is shown away.
 * @param {SourceLine[]} lines @param {number} first number of the first of them @param {SourceHeat | null} heat @param {ViewState} state
 */
export function showHeat(lines, first, heat, state) {
  const counts = new Map(heat?.lines.map((row) => [row[0], row]));
  const branches = byLine(heat?.branches ?? []);
  const calls = byLine(heat?.calls ?? []);
  const most = Math.max(1, ...(heat?.lines ?? []).map(([, , instructions]) => instructions));
  lines[0]?.node.parentElement?.classList.toggle('counted', heat !== null);
  lines.forEach(({ node, count, notes }, index) => {
    const line = first + index;
    const [, ran = 0, instructions = 0] = counts.get(line) ?? [];
    const never = counts.has(line) && ran === 0 && instructions === 0;
    node.classList.toggle('never', never);
    // A script may set properties of a style; only text that has a style attribute would be refused.
    // Of the square root, so that lines with a hundredth of the instructions are seen, too.
    node.style.setProperty('--heat', Math.sqrt(instructions / most).toFixed(3));
    count.textContent = counts.has(line) ? formatCount(ran) : '';
    count.title = !counts.has(line) ? '' : never ? 'Never ran'
      : `Ran ${formatCounted(ran, 'time')}: ${formatCounted(instructions, 'instruction')}, ${formatShare(instructions, heat?.executed ?? 0)} of all`;
    fill(notes, ...shortened(branches.get(line) ?? [], makeBranch, 'branch'),
      ...shortened(calls.get(line) ?? [], (call) => makeCall(state, call), 'call'));
  });
}
