// The chosen span: what is known of it, the stack around it, and what one can do with it.
import { formatCount, formatLength } from '../format.js';
import { copyText } from './clipboard.js';
import { makePanel, showCallsOf } from './context.js';
import { copyCalls } from './copy_calls.js';
import { button, element, fill } from './dom.js';
import { Question } from './question.js';
import { makeRoving } from './roving.js';
import { factsOf, foldStack, spanText } from './span_words.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').SpanDetails} SpanDetails */
/** @typedef {import('../data/source.js').StackEntry} StackEntry */

/** Frames listed of a stack that is deeper than both together. */
const OUTER_FRAMES = 50;
const INNER_FRAMES = 200;
/** Letters that have room in the heading. */
const LONG_NAME = 120;

const NOTHING_CHOSEN = 'Click a span on the timeline, or walk there with the arrow keys, to see what is known of it.';
const NOTHING_THERE = 'The trace has no span at that place. Is the link from another trace?';

/** @param {Context} context */
export function makeDetailsPanel(context) {
  const { chosen } = context;
  const copying = new Question('Fetching the calls');
  const facts = element('div', { class: 'facts' });
  const stack = element('ol', { class: 'stack', 'aria-label': 'Stack, outermost first' });
  const stackRoving = makeRoving(stack, 'button');
  const hint = element('p', { class: 'hint' });
  const body = element('div', { class: 'columns' }, facts, stack);

  const update = () => {
    const { details, parents } = chosen;
    hint.hidden = details !== null;
    hint.textContent = context.state.span === null ? NOTHING_CHOSEN : NOTHING_THERE;
    body.hidden = details === null;
    copying.cancel();
    if (details === null) return;
    fill(facts, ...describe(context, details, parents, copying));
    fill(stack, ...frames(context, details, parents));
    stackRoving.refresh(stack.querySelectorAll('button').length - 1);
    stack.scrollTop = stack.scrollHeight;
  };
  return makePanel(context, {
    name: 'details',
    title: 'Span',
    content: [chosen.question.element, copying.element, hint, body],
    update,
    on: [[chosen, 'details']],
  });
}

/** @param {Context} context @param {SpanDetails} span @param {StackEntry[]} parents @param {Question} copying */
function describe(context, span, parents, copying) {
  const { info, functions } = context;
  const lines = factsOf(span, info.tracks.find((track) => track.id === span.track), info.wallClock);
  const shownName = context.names.of(span.function);
  /** @type {[string, string][]} */
  const shown = shownName !== span.name || span.name.length > LONG_NAME ? [...lines, ['Whole name', span.name]] : lines;
  const names = parents.map((parent) => functions[parent.function].name);
  return [
    element('h2', { class: 'name', title: span.name }, shownName),
    span.unnamed ? element('p', { class: 'unnamed' }, span.unnamed) : null,
    element('div', { class: 'buttons' }, ...actions(context, span, () => spanText(span, lines, names), copying)),
    element('dl', {}, ...shown.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])),
  ];
}

/** @param {Context} context @param {SpanDetails} span @param {() => string} text @param {Question} copying */
function actions(context, span, text, copying) {
  const { state, functions, walk } = context;
  const { group } = functions[span.function];
  /** @param {'next' | 'previous'} direction */
  const step = (direction) => {
    if (state.search.group !== group) state.setSearch({ text: span.name, regex: false, group });
    walk.step(direction);
  };
  const copy = async () => {
    if (await copyText(text(), 'what is known of the span')) copying.say('Copied what is known of the span.');
  };
  return [
    button('Zoom to it', () => state.goTo(span), { title: 'F' }),
    button('All calls', () => showCallsOf(state, group, functions[group].name)),
    button('Previous call', () => step('previous'), { title: 'Shift-N' }),
    button('Next call', () => step('next'), { title: 'N' }),
    button('Source', () => state.setPanel('source'), { disabled: span.file === null }),
    button('Copy', copy),
    button('Copy its calls', () => copyCalls(context, copying, [span.track], { from: span.start, to: span.end }, 'the calls in the span')),
  ];
}

/** @param {Context} context @param {SpanDetails} span @param {StackEntry[]} parents */
function frames({ state, names, functions }, span, parents) {
  /** @param {StackEntry} entry */
  const frame = (entry) => {
    const name = element('span', { class: 'clamped' }, names.of(entry.function));
    const { depth, start, end } = entry;
    const { group } = functions[entry.function];
    const choose = () => state.setSpan({ track: span.track, depth, start, end, group });
    const length = element('span', { class: 'quiet' }, formatLength(end - start));
    const current = depth === span.depth;
    return element('li', {}, element('button', { type: 'button', click: choose, 'aria-current': current && 'true', title: names.of(entry.function) }, name, ' ', length));
  };
  const { outer, left, inner } = foldStack([...parents, span], OUTER_FRAMES, INNER_FRAMES);
  const between = left > 0 && element('li', { class: 'quiet' }, `… ${formatCount(left)} more …`);
  return [...outer.map(frame), between, ...inner.map(frame)];
}
