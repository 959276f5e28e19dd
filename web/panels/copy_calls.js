// The calls of a range as an indented tree, to the clipboard.
import { copyText } from './clipboard.js';

/** Lines of one track that are copied at most: what one pastes is read by people. */
const MOST_LINES = 20000;

/**
 * @param {import('./context.js').Context} context @param {import('./question.js').Question} question shows the progress
 * @param {number[] | null} tracks null: all @param {import('../data/source.js').Range} range @param {string} what it is
 */
export function copyCalls({ source, info }, question, tracks, range, what) {
  const ids = tracks ?? info.tracks.filter((track) => track.kind === 'thread').map((track) => track.id);
  question.run(
    async (signal) => {
      const texts = [];
      for (const id of ids) texts.push(await source.text(id, range, MOST_LINES, signal));
      return texts.filter((text) => text !== '').join('\n');
    },
    async (text) => {
      if (await copyText(text, what)) question.say(`Copied ${what}.`);
    },
  );
}
