// The part of the ViewState that a link to this view carries, as the URL's fragment: read at start, written when the page has come
// to rest after a change. Times are written with all their digits, so that a shared link shows the same picture. What shows
// another width of time is an entry of its own in the browser's history, so that Back undoes a zoom.
//
//   #view=FROM-TO&span=TRACK.DEPTH.START.END[.GROUP]&select=FROM-TO[@TRACK.TRACK]&search=TEXT&regex=1&group=N
//    &flags=TIME~TEXT,TIME~TEXT&panel=NAME&theme=dark&folded=1.2.3&tall=1.2.3&pinned=1.2.3&tracks=TEXT
//    &order=activity&names=short&colours=self&lengths=FROM-TO&flame=callers&time=wall&calls=onCpu&why=chosen&a=FROM-TO&b=FROM-TO&sql=TEXT
//   or, to compare calls, a=TRACK.DEPTH.START.END[.GROUP]

/** @typedef {import('./view_state.js').ViewState} ViewState */

const FRAGMENT_EVENTS = ['view', 'span', 'selection', 'search', 'flags', 'panel', 'theme', 'tracks', 'names', 'colours', 'lengths', 'flame', 'time', 'calls', 'why', 'compared', 'sql'];
const FLAME_VIEWS = /** @type {const} */ (['upside-down', 'callers', 'callees']);
const COLOURINGS = /** @type {const} */ (['function', 'module', 'self']);
const SIDES = /** @type {const} */ (['a', 'b']);
const TRACK_SETS = /** @type {const} */ (['folded', 'tall', 'pinned']);
const WRITE_AFTER = 250; // ms without a change: of a zoom by the wheel, or by a key that is held, only the end is an entry
const OTHER_WIDTH = 0.01; // of the width of the view: what differs by less is no zoom

/**
 * A finite number that is not negative, or null.
 * @param {string | undefined} text
 */
function readNumber(text) {
  if (text === undefined || !/^\d+(\.\d+)?(e[+-]?\d+)?$/.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** @param {string | null} text */
function readRange(text) {
  const [from, to, ...rest] = (text ?? '').split('-').map(readNumber);
  return from !== null && from !== undefined && to !== null && to !== undefined && rest.length === 0 && from < to ? { from, to } : null;
}

/**
 * Whole ids between dots.
 * @param {string | null | undefined} text
 */
function readIds(text) {
  return (text ?? '').split('.').flatMap((word) => {
    const id = readNumber(word);
    return id !== null && Number.isInteger(id) ? [id] : [];
  });
}

/**
 * Three digits after the point are enough: a picometre of the screen.
 * @param {number} time
 */
const writeTime = (time) => String(Math.round(time * 1000) / 1000);

/** @param {{from: number, to: number}} range */
const writeRange = (range) => `${writeTime(range.from)}-${writeTime(range.to)}`;

/**
 * What a fragment should be for this state, without '#'.
 * @param {ViewState} state
 */
export function writeFragment(state) {
  const fragment = new URLSearchParams();
  if (state.view.from > 0 || state.view.to < state.duration) fragment.set('view', writeRange(state.view));
  const { span, selection, search } = state;
  if (span) fragment.set('span', [span.track, span.depth, span.start, span.end, ...(span.group === undefined ? [] : [span.group])].join('.'));
  if (selection)
    fragment.set('select', writeRange(selection.range) + (selection.tracks ? `@${selection.tracks.join('.')}` : ''));
  if (search.text) fragment.set('search', search.text);
  if (search.regex) fragment.set('regex', '1');
  if (search.group !== null) fragment.set('group', String(search.group));
  if (state.flags.length > 0)
    fragment.set('flags', state.flags.map((flag) => `${writeTime(flag.time)}~${encodeURIComponent(flag.text)}`).join());
  if (state.panel !== null) fragment.set('panel', state.panel);
  if (state.theme !== 'system') fragment.set('theme', state.theme);
  for (const name of TRACK_SETS) if (state[name].size > 0) fragment.set(name, [...state[name]].sort((a, b) => a - b).join('.'));
  if (state.filter) fragment.set('tracks', state.filter);
  if (state.order !== 'start') fragment.set('order', state.order);
  if (state.shortNames) fragment.set('names', 'short');
  if (state.colours !== 'origin') fragment.set('colours', state.colours);
  if (state.flame !== 'stacks') fragment.set('flame', state.flame);
  if (state.time !== 'cpu') fragment.set('time', state.time);
  if (state.callOrder !== 'length') fragment.set('calls', state.callOrder);
  if (state.why !== 'slow') fragment.set('why', state.why);
  for (const side of SIDES) {
    const part = state.compared[side];
    if (part !== null) fragment.set(side, writePart(part));
  }
  if (state.lengths) fragment.set('lengths', writeRange(state.lengths));
  if (state.sql) fragment.set('sql', state.sql);
  return fragment.toString();
}

/** @param {import('./view_state.js').Part} part */
function writePart(part) {
  const trace = part.trace === undefined ? '' : `${part.trace}_`;
  if ('range' in part) return trace + writeRange(part.range);
  const { track, depth, start, end, group } = part.call;
  return trace + [track, depth, start, end, ...(group === undefined ? [] : [group])].join('.');
}

/** @param {string | null} text @returns {import('./view_state.js').Part | null} */
function readPart(text) {
  const [, letter, part] = /^(?:([ab])_)?(.*)$/s.exec(text ?? '') ?? [];
  const trace = letter === 'a' || letter === 'b' ? { trace: /** @type {'a' | 'b'} */ (letter) } : {};
  const range = readRange(part);
  if (range !== null) return { range, ...trace };
  const [track, depth, start, end, group, ...rest] = readIds(part);
  if (end === undefined || rest.length > 0 || start > end) return null;
  return { call: { track, depth, start, end, ...(group === undefined ? {} : { group }) }, ...trace };
}

/** @param {string | null} text */
function readFlags(text) {
  const flags = [];
  for (const item of (text ?? '').split(',')) {
    const [, time, words] = /^([^~]*)~(.*)$/.exec(item) ?? [];
    const at = readNumber(time);
    if (at === null) continue;
    try {
      flags.push({ time: at, text: decodeURIComponent(words) });
    } catch {
      // a link that was cut: the flag has no text that can be read
    }
  }
  return flags;
}

/** @param {string | null} text */
function readSelection(text) {
  const [range, tracks] = (text ?? '').split('@');
  const read = readRange(range);
  return read && { range: read, tracks: tracks === undefined ? null : readIds(tracks) };
}

/**
 * Brings the state to what a fragment says. What it does not name, or names wrongly, becomes as it is at the start.
 * @param {ViewState} state @param {string} text without '#'
 */
export function readFragment(state, text) {
  const fragment = new URLSearchParams(text);
  state.setView(readRange(fragment.get('view')) ?? { from: 0, to: state.duration });
  const [track, depth, start, end, group, ...rest] = readIds(fragment.get('span'));
  state.setSpan(end !== undefined && rest.length === 0 && start <= end ? { track, depth, start, end, ...(group !== undefined && { group }) } : null);
  const selection = readSelection(fragment.get('select'));
  state.setSelection(selection?.range ?? null, selection?.tracks ?? null);
  state.setSearch({
    text: fragment.get('search') ?? '',
    regex: fragment.get('regex') === '1',
    group: readNumber(fragment.get('group') ?? undefined),
  });
  state.setFlags(readFlags(fragment.get('flags')));
  if (state.sql !== (fragment.get('sql') ?? '')) state.setSql(fragment.get('sql') ?? '');
  state.setPanel(fragment.get('panel'));
  state.setFlame(FLAME_VIEWS.find((view) => view === fragment.get('flame')) ?? 'stacks');
  state.setTime(fragment.get('time') === 'wall' ? 'wall' : 'cpu');
  state.setCallOrder(fragment.get('calls') === 'onCpu' ? 'onCpu' : 'length');
  state.setWhy(fragment.get('why') === 'chosen' ? 'chosen' : 'slow');
  state.setCompared({ a: readPart(fragment.get('a')), b: readPart(fragment.get('b')) });
  state.setLengths(readRange(fragment.get('lengths')));
  state.setShortNames(fragment.get('names') === 'short');
  state.setColours(COLOURINGS.find((colouring) => colouring === fragment.get('colours')) ?? 'origin');
  const theme = fragment.get('theme');
  state.setTheme(theme === 'light' || theme === 'dark' ? theme : 'system');
  const [folded, tall, pinned] = TRACK_SETS.map((name) => new Set(readIds(fragment.get(name))));
  for (const id of new Set([...folded, ...state.folded])) state.setFolded(id, folded.has(id));
  for (const id of new Set([...tall, ...state.tall])) state.setTall(id, tall.has(id));
  for (const id of new Set([...pinned, ...state.pinned])) state.setPinned(id, pinned.has(id));
  if (state.filter !== (fragment.get('tracks') ?? '')) state.setFilter(fragment.get('tracks') ?? '');
  const order = fragment.get('order');
  state.setOrder(order === 'activity' || order === 'name' ? order : 'start');
}

/**
 * From now on the address holds the state, and another address (typed, or from a link) changes it.
 * @param {ViewState} state @param {Window} window
 */
export function keepStateInUrl(state, window) {
  let written = window.location.hash.slice(1);
  let timer = 0;
  const width = () => state.view.to - state.view.from;
  /** Of the view in the history's current entry. */
  let entryWidth = 0;
  const read = () => {
    readFragment(state, written);
    entryWidth = width();
    window.clearTimeout(timer); // what the address says itself need not be written
  };
  const write = () => {
    const fragment = writeFragment(state);
    if (fragment === written) return;
    written = fragment;
    const address = fragment ? `#${fragment}` : window.location.pathname + window.location.search;
    if (Math.abs(width() - entryWidth) > OTHER_WIDTH * entryWidth) window.history.pushState(null, '', address);
    else window.history.replaceState(null, '', address);
    entryWidth = width();
  };
  for (const event of FRAGMENT_EVENTS)
    state.addEventListener(event, () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(write, WRITE_AFTER);
    });
  read();
  window.addEventListener('hashchange', () => {
    const fragment = window.location.hash.slice(1);
    if (fragment === written) return;
    written = fragment;
    read();
  });
}
