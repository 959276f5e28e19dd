// The source text of the chosen span's function, with the line marked at which it begins.
import { makePanel } from './context.js';
import { element, fill } from './dom.js';
import { Question } from './question.js';
import { placeInSource } from './span_words.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').SourceText} SourceText */

/** @param {Context} context */
export function makeSourcePanel(context) {
  const { source, chosen } = context;
  const question = new Question('Fetching the source text');
  const hint = element('p', { class: 'hint' });
  const heading = element('h2', { class: 'name' });
  // In the tab order, so that it can be scrolled by keyboard.
  const text = element('ol', { class: 'source-text', tabindex: 0, 'aria-label': 'Source text' });
  /** @param {string} words */
  const say = (words) => {
    hint.textContent = words;
    hint.hidden = words === '';
    text.hidden = heading.hidden = words !== '';
  };

  const update = () => {
    const span = chosen.details;
    question.cancel();
    if (span === null) return say('Choose a span to see the source text of its function.');
    if (span.file === null) return say(`The trace does not say from which file ${span.name} comes.`);
    const place = placeInSource(span);
    return question.run(
      (signal) => source.source(span.function, signal),
      (answer) => {
        if (answer === null) return say(`${place} is not on this machine, or cannot be read.`);
        say('');
        heading.textContent = `${span.name} · ${place}`;
        showText(text, answer);
      },
    );
  };
  return makePanel(context, {
    name: 'source', title: 'Source', content: [question.element, hint, heading, text], update, on: [[chosen, 'details']],
  });
}

/** @param {HTMLElement} list @param {SourceText} answer */
function showText(list, { line, first, lines }) {
  // The browser counts the lines; a style attribute in text would be refused, this is none.
  list.style.setProperty('counter-reset', `line ${first - 1}`);
  const nodes = lines.map((words, index) => {
    const marked = first + index === line;
    return element('li', { class: marked ? 'marked' : '', 'aria-current': marked && 'location' }, words === '' ? ' ' : words);
  });
  fill(list, ...nodes);
  nodes[line - first]?.scrollIntoView({ block: 'center' });
}
