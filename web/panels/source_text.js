// The source text of the chosen span's function, with the line marked at which it begins, and what its lines cost: in the whole trace,
// a range, or the chosen call.
import { formatCounted } from '../format.js';
import { makePanel } from './context.js';
import { element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRangeControl } from './range_choice.js';
import { makeSourceLine, showHeat } from './source_heat.js';
import { placeInSource } from './span_words.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').SourceText} SourceText */
/** @typedef {import('../data/source.js').SourceHeat} SourceHeat */

/** @param {Context} context */
export function makeSourcePanel(context) {
  const { source, chosen, ranges } = context;
  const question = new Question('Fetching the source text');
  const hint = element('p', { class: 'hint' });
  const heading = element('h2', { class: 'name' });
  // In the tab order, so that it can be scrolled by keyboard.
  const text = element('ol', { class: 'source-text', tabindex: 0, 'aria-label': 'Source text' });
  const counting = new Question('Counting how often lines ran');
  const summary = element('span', { class: 'quiet' });
  const bar = element('div', { class: 'bar' }, makeRangeControl(ranges), summary);
  /** @type {{fn: number, first: number, lines: import('./source_heat.js').SourceLine[]} | null} what is shown */
  let shown = null;
  /** @param {string} words */
  const say = (words) => {
    hint.textContent = words;
    hint.hidden = words === '';
    text.hidden = heading.hidden = words !== '';
    bar.hidden = words !== '' || !source.heat;
    if (words === '') return;
    shown = null;
    counting.cancel();
  };

  const count = () => {
    if (shown === null || !source.heat) return;
    const { fn, first, lines } = shown;
    const { state } = context;
    const call = ranges.extent === 'span' ? state.span : null;
    const part = call ? { call } : { range: ranges.range(), tracks: ranges.tracks() };
    counting.run(
      (signal) => /** @type {NonNullable<typeof source.heat>} */ (source.heat)(fn, { from: first, to: first + lines.length - 1 }, part, signal),
      (heat) => {
        const words = `${formatCounted(heat.executed, 'instruction')} in all files${heat.byTime ? ', by their times' : ''}`;
        summary.textContent = heat.refused ?? words;
        summary.title = heat.byTime ? 'What ran in this part is found by times, which are less exact than the order of what ran.' : '';
        showHeat(lines, first, heat.refused === null ? heat : null, state);
      },
    );
  };

  const update = () => {
    const span = chosen.details;
    question.cancel();
    if (span === null) return say('Choose a span to see the source text of its function.');
    if (span.file === null) return say(`The trace does not say from which file ${span.name} comes.`);
    const place = placeInSource(span);
    // The range has changed, and the text has not.
    if (shown?.fn === span.function) return count();
    return question.run(
      (signal) => source.source(span.function, signal),
      (answer) => {
        if (answer === null) return say(`${place} is not on this machine, or cannot be read.`);
        say('');
        heading.textContent = `${span.name} · ${place}`;
        shown = { fn: span.function, first: answer.first, lines: showText(text, answer) };
        return count();
      },
    );
  };
  return makePanel(context, {
    name: 'source', title: 'Source', content: [question.element, hint, heading, bar, counting.element, text], update,
    on: [[chosen, 'details'], [ranges, 'range']],
  });
}

/** @param {HTMLElement} list @param {SourceText} answer */
function showText(list, { line, first, lines }) {
  // The browser counts the lines; a style attribute in text would be refused, this is none.
  list.style.setProperty('counter-reset', `line ${first - 1}`);
  const made = lines.map(makeSourceLine);
  fill(list, ...made.map(({ node }) => node));
  const marked = made[line - first]?.node;
  marked?.classList.add('marked');
  marked?.setAttribute('aria-current', 'location');
  marked?.scrollIntoView({ block: 'center' });
  return made;
}
