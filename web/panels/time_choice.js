// Which time tables and flame graphs add up: that on a processor, or all of it. One choice for all panels; traces that do not say
// when threads were not running have no choice.
import { knowsOffCpu } from '../data/off_cpu.js';
import { element } from './dom.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('../data/source.js').Time} Time */

/**
 * @param {Context} context
 * @returns {Time} what is added up of this trace
 */
export function timeOf({ state, functions }) {
  return knowsOffCpu(functions) ? state.time : 'wall';
}

/**
 * The control to choose it by; null where there is no choice.
 * @param {Context} context
 */
export function makeTimeControl({ state, functions }) {
  if (!knowsOffCpu(functions)) return null;
  const select = element('select', { title: 'on-CPU: without the time in which threads waited or were preempted' },
    element('option', { value: 'cpu' }, 'on-CPU'), element('option', { value: 'wall' }, 'all'));
  const show = () => (select.value = state.time);
  select.addEventListener('change', () => state.setTime(/** @type {Time} */ (select.value)));
  state.addEventListener('time', show);
  show();
  return element('label', {}, 'Time ', select);
}
