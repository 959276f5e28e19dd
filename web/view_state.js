// What the user looks at and has chosen: the one place that all parts of the page share. Parts change it by its methods and
// learn of changes by its events; they do not know of one another.
//
//   'view'      the visible range moved            'selection'  another range was measured (range, tracks)
//   'span'      another span was chosen            'search'     the search text, or its current match, changed
//   'flags'     flags on the time line changed     'panel'      another panel is shown at the bottom
//   'tracks'    tracks were arranged in another way 'theme'     'light', 'dark' or 'system'
//   'flame'     another view of the flame graph was chosen
//   'lengths'   other lengths of calls were chosen
//   'why'       other calls are to be explained    'compared'   other parts are compared
//   'time'      time on a processor, or all time, is added up;  'calls'     calls are listed by another length
//   'sql'       another query was asked             'names'      names of functions are written short, or whole again
//   'colours'   colours of functions mean something else
//   'cursor'    the pointer moved on the time line

/** @typedef {import('./data/source.js').Range} Range */
/** @typedef {import('./data/source.js').Place} Place */
/** @typedef {{time: number, text: string}} Flag */
/** @typedef {import('./data/source.js').Time} Time */
/** @typedef {import('./data/source.js').Part} Part */
/** @typedef {'a' | 'b'} Side of a comparison */
/** @typedef {import('./data/source.js').CallOrder} CallOrder */
/** @typedef {'stacks' | 'upside-down' | 'callers' | 'callees'} FlameView */

/** The narrowest range that can be shown, in ns. */
export const NARROWEST = 10;

export class ViewState extends EventTarget {
  /** @param {number} duration of the trace, ns */
  constructor(duration) {
    super();
    this.duration = duration;
    /** @type {Range} */
    this.view = { from: 0, to: Math.max(duration, NARROWEST) };
    /** @type {{range: Range, tracks: number[] | null} | null} */
    this.selection = null;
    /** @type {Place | null} */
    this.span = null;
    this.search = { text: '', regex: false, group: /** @type {number | null} */ (null) };
    /** @type {Flag[]} */
    this.flags = [];
    /** @type {string | null} name of the panel shown; null: none */
    this.panel = null;
    /** @type {Set<number>} ids of tracks that show one row only */
    this.folded = new Set();
    /** @type {Set<number>} ids of tracks that show all their rows, however many */
    this.tall = new Set();
    /** @type {Set<number>} ids of tracks that stand above all others */
    this.pinned = new Set();
    /** What the names of the tracks that are shown hold. */
    this.filter = '';
    /** @type {'start' | 'activity' | 'name'} of tracks */
    this.order = 'start';
    /** @type {'light' | 'dark' | 'system'} */
    this.theme = 'system';
    /** Whether names of functions are written without template arguments and parameters. */
    this.shortNames = false;
    /** @type {import('./timeline/colouring.js').Colouring} what the colours of functions mean */
    this.colours = 'origin';
    /** @type {FlameView} callers, callees: of the function that is searched */
    this.flame = 'stacks';
    /** @type {Range | null} the lengths of the calls that are listed, ns; null: of all */
    this.lengths = null;
    /** @type {Time} which time tables and flame graphs add up */
    this.time = 'cpu';
    /** @type {'slow' | 'chosen'} the calls that are explained: the slow ones, or the chosen one */
    this.why = 'slow';
    /** @type {Record<Side, Part | null>} what is compared; null: not chosen */
    this.compared = { a: null, b: null };
    /** @type {CallOrder} by what calls are listed */
    this.callOrder = 'length';
    /** The query that was asked last, in SQL; '': none. */
    this.sql = '';
    /** @type {number | null} the moment under the pointer, ns; null: the pointer is not on the time line. No part of the URL. */
    this.cursor = null;
  }

  /** @param {string} name */
  #notify(name) {
    this.dispatchEvent(new Event(name));
  }

  /**
   * Shows a range, kept inside the trace and no narrower than NARROWEST.
   * @param {Range} range
   */
  setView(range) {
    const whole = Math.max(this.duration, NARROWEST);
    const width = Math.min(Math.max(range.to - range.from, NARROWEST), whole);
    const from = Math.min(Math.max(range.from, 0), whole - width);
    if (from === this.view.from && from + width === this.view.to) return;
    this.view = { from, to: from + width };
    this.#notify('view');
  }

  /**
   * Brings a span into view with some room around it, and chooses it.
   * @param {Place} place
   */
  goTo(place) {
    const length = Math.max(place.end - place.start, NARROWEST);
    this.setView({ from: place.start - length, to: place.end + length });
    this.setSpan(place);
  }

  /** @param {Place | null} place */
  setSpan(place) {
    this.span = place;
    this.#notify('span');
  }

  /** @param {Range | null} range @param {number[] | null} tracks null: all */
  setSelection(range, tracks = null) {
    this.selection = range && { range, tracks };
    this.#notify('selection');
  }

  /** @param {Partial<ViewState['search']>} change */
  setSearch(change) {
    this.search = { ...this.search, ...change };
    this.#notify('search');
  }

  /** @param {Flag[]} flags */
  setFlags(flags) {
    this.flags = [...flags].sort((a, b) => a.time - b.time);
    this.#notify('flags');
  }

  /** @param {number | null} time */
  setCursor(time) {
    if (time === this.cursor) return;
    this.cursor = time;
    this.#notify('cursor');
  }

  /** @param {string | null} panel */
  setPanel(panel) {
    this.panel = panel;
    this.#notify('panel');
  }

  /** @param {boolean} short */
  setShortNames(short) {
    if (short === this.shortNames) return;
    this.shortNames = short;
    this.#notify('names');
  }

  /** @param {ViewState['colours']} colours */
  setColours(colours) {
    if (colours === this.colours) return;
    this.colours = colours;
    this.#notify('colours');
  }

  /** @param {FlameView} view */
  setFlame(view) {
    if (view === this.flame) return;
    this.flame = view;
    this.#notify('flame');
  }

  /** @param {Range | null} lengths */
  setLengths(lengths) {
    if (lengths?.from === this.lengths?.from && lengths?.to === this.lengths?.to) return;
    this.lengths = lengths;
    this.#notify('lengths');
  }

  /** @param {Time} time */
  setTime(time) {
    if (time === this.time) return;
    this.time = time;
    this.#notify('time');
  }

  /** @param {ViewState['why']} why */
  setWhy(why) {
    if (why === this.why) return;
    this.why = why;
    this.#notify('why');
  }

  /** @param {ViewState['compared']} compared */
  setCompared(compared) {
    if (JSON.stringify(compared) === JSON.stringify(this.compared)) return;
    this.compared = compared;
    this.#notify('compared');
  }

  /** @param {CallOrder} order */
  setCallOrder(order) {
    if (order === this.callOrder) return;
    this.callOrder = order;
    this.#notify('calls');
  }

  /** @param {string} sql */
  setSql(sql) {
    this.sql = sql;
    this.#notify('sql');
  }

  /** @param {number} track @param {boolean} folded */
  setFolded(track, folded) {
    this.#setMember(this.folded, track, folded);
  }

  /** @param {number} track @param {boolean} tall */
  setTall(track, tall) {
    this.#setMember(this.tall, track, tall);
  }

  /** @param {number} track @param {boolean} pinned */
  setPinned(track, pinned) {
    this.#setMember(this.pinned, track, pinned);
  }

  /** @param {Set<number>} set @param {number} track @param {boolean} isMember */
  #setMember(set, track, isMember) {
    if (set.has(track) === isMember) return;
    if (isMember) set.add(track);
    else set.delete(track);
    this.#notify('tracks');
  }

  /** @param {string} filter */
  setFilter(filter) {
    this.filter = filter;
    this.#notify('tracks');
  }

  /** @param {ViewState['order']} order */
  setOrder(order) {
    this.order = order;
    this.#notify('tracks');
  }

  /** @param {'light' | 'dark' | 'system'} theme */
  setTheme(theme) {
    this.theme = theme;
    this.#notify('theme');
  }
}
