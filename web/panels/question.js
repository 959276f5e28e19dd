// One question at a time: a new one ends the one before, an answer that comes too late is never shown. What runs long says so
// and can be stopped; a failure is shown in words.
import { button, element, fill } from './dom.js';

/** Answers that come sooner are not announced: a line that flashes disturbs more than it helps. */
const ANNOUNCED_AFTER_MS = 250;

export class Question {
  /** @type {AbortController | null} */
  #running = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} doing what is shown while it runs, such as "Adding up the functions"
   * @param {Element} [answer] where the answer is shown: what stands there of the question before is dimmed meanwhile, and
   *   also when no answer comes
   */
  constructor(doing, answer) {
    this.doing = doing;
    this.answer = answer;
    /** The line that shows the progress; the panel places it. */
    this.element = element('div', { class: 'question', hidden: true });
  }

  /**
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} ask
   * @param {(answer: T) => void} show
   */
  async run(ask, show) {
    this.#end();
    const running = new AbortController();
    this.#running = running;
    this.#timer = setTimeout(() => this.#announce(), ANNOUNCED_AFTER_MS);
    try {
      const answer = await ask(running.signal);
      if (running.signal.aborted) return;
      this.#finish();
      this.#report();
      this.answer?.classList.remove('outdated');
      show(answer);
    } catch (error) {
      if (running.signal.aborted) return;
      this.#finish();
      this.answer?.classList.add('outdated');
      this.#report(element('span', { role: 'alert', class: 'error' }, wordsOf(error)));
    }
  }

  get isRunning() {
    return this.#running !== null;
  }

  /** Ends what runs and says nothing: the question has become pointless. */
  cancel() {
    this.#end();
    this.#report();
  }

  /**
   * Shows that something is done.
   * @param {string} words
   */
  say(words) {
    this.#report(element('span', { role: 'status' }, words));
  }

  #end() {
    this.#running?.abort();
    this.#finish();
  }

  #finish() {
    clearTimeout(this.#timer);
    this.#running = null;
  }

  #announce() {
    const stop = () => {
      this.#end();
      this.say('Stopped.');
    };
    this.answer?.classList.add('outdated');
    this.#report(element('span', { role: 'status' }, `${this.doing} …`), button('Stop', stop));
  }

  /** @param {...Node} words */
  #report(...words) {
    fill(this.element, ...words);
    this.element.hidden = words.length === 0;
  }
}

/** @param {unknown} error what was thrown */
export function wordsOf(error) {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
