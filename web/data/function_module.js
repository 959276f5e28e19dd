// Which module of a program a function belongs to.

import { shortName } from '../short_name.js';

/**
 * The module of a function: its source file where that is known, else what its name says (namespace, package or module).
 * @param {string} name @param {string | null} file
 */
export function moduleOf(name, file) {
  if (file) return file;
  const plain = shortName(name).replaceAll('<>', '').replace(/\(.*$/s, '');
  const end = Math.max(plain.lastIndexOf('::'), plain.lastIndexOf('.'));
  return end > 0 ? plain.slice(0, end) : '';
}
