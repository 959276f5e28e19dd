// Which functions the search means: the calls of one, or, before one was chosen, all whose name has the text. No DOM here.

/**
 * @param {{text: string, regex: boolean, group: number | null}} search
 * @returns {((group: number, name: string) => boolean) | null} null: nothing is searched
 */
export function matcherOf({ text, regex, group }) {
  if (group !== null) return (other) => other === group;
  if (text === '') return null;
  if (!regex) {
    const wanted = text.toLowerCase();
    return (_, name) => name.toLowerCase().includes(wanted);
  }
  try {
    const pattern = new RegExp(text);
    return (_, name) => pattern.test(name);
  } catch {
    // Half typed, or in another dialect than the browser's: the search box shows what is wrong with it.
    return null;
  }
}
