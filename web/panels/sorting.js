// Order and filter of the table of functions. No DOM here.

/** @typedef {import('../data/source.js').TableRow} TableRow */
/** @typedef {'name' | 'calls' | 'onCpu' | 'total' | 'self' | 'mean' | 'min' | 'max'} Column */
/** @typedef {{column: Column, descending: boolean}} Order */

/**
 * By what the source must choose the rows of its answer, so that the first ones in this order are among them.
 * @param {Column} column
 */
export function sortOfSource(column) {
  return column === 'calls' || column === 'onCpu' || column === 'total' || column === 'max' ? column : 'self';
}

/**
 * A click on a column: the same one turns around, another begins with the greatest (names: with A).
 * @param {Order} order @param {Column} column @returns {Order}
 */
export function ordered(order, column) {
  if (order.column === column) return { column, descending: !order.descending };
  return { column, descending: column !== 'name' };
}

/** @param {TableRow} row @param {Exclude<Column, 'name'>} column */
function valueOf(row, column) {
  return column === 'onCpu' ? row.total - row.offCpu : row[column];
}

/** @param {TableRow[]} rows @param {Order} order @param {string} filter part of the name, case ignored */
export function sortedRows(rows, { column, descending }, filter) {
  const wanted = filter.toLowerCase();
  const sign = descending ? -1 : 1;
  /** @param {TableRow} a @param {TableRow} b */
  const compare = (a, b) => {
    // Without a whole call there is no length: such rows come last in either order.
    if (column === 'min' || column === 'max' || column === 'mean') {
      if ((a.whole === 0) !== (b.whole === 0)) return a.whole === 0 ? 1 : -1;
    }
    const difference = column === 'name' ? a.name.localeCompare(b.name) : valueOf(a, column) - valueOf(b, column);
    return difference === 0 ? a.group - b.group : sign * difference;
  };
  return rows.filter((row) => row.name.toLowerCase().includes(wanted)).sort(compare);
}
