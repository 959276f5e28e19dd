// Where the boxes of a flame graph lie: the root on top, children below their parent, as wide as their time. No DOM here.

/** @typedef {import('../data/source.js').FlameNode} FlameNode */
/**
 * @typedef {{node: FlameNode | null, parent: Box | null, depth: number, x: number, width: number, total: number}} Box
 *   node null: the time of children that are too narrow for boxes of their own
 */

/** Boxes that are narrower are not drawn, px. */
const NARROWEST = 0.3;

/**
 * @param {FlameNode} root @param {number[]} zoom path of the node that fills the width; empty: the root
 * @param {number} width px
 * @returns {Box[]} parents before children; those above the zoomed one fill the width as well
 */
export function layoutFlame(root, zoom, width) {
  /** @type {Box[]} */
  const boxes = [];
  /** @type {Box} */
  let box = { node: root, parent: null, depth: 0, x: 0, width, total: root.total };
  boxes.push(box);
  for (const group of zoom) {
    const child = /** @type {FlameNode} */ (box.node).children.find((node) => node.group === group);
    if (child === undefined) break;
    box = { node: child, parent: box, depth: box.depth + 1, x: 0, width, total: child.total };
    boxes.push(box);
  }
  placeChildren(box, boxes);
  return boxes;
}

/**
 * Without recursion: stacks may be deeper than the browser's own.
 * @param {Box} top @param {Box[]} boxes
 */
function placeChildren(top, boxes) {
  const waiting = [top];
  for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
    const { node } = box;
    if (node === null || node.total <= 0) continue;
    const scale = box.width / node.total;
    let x = box.x;
    const parent = box;
    /** @param {FlameNode | null} child @param {number} total */
    const place = (child, total) => {
      const width = total * scale;
      if (width < NARROWEST) return;
      const placed = { node: child, parent, depth: parent.depth + 1, x, width, total };
      boxes.push(placed);
      waiting.push(placed);
      x += width;
    };
    for (const child of node.children) place(child, child.total);
    place(null, node.omitted);
  }
}

/**
 * The groups from below the root down to a box; of omitted time, down to the box that it belongs to.
 * @param {Box} box
 */
export function pathOf(box) {
  const path = [];
  for (let at = box.node === null ? box.parent : box; at?.parent; at = at.parent) path.push(/** @type {FlameNode} */ (at.node).group);
  return path.reverse();
}

/**
 * The box of the node at a path; null when there is none.
 * @param {Box[]} boxes @param {number[]} path
 */
export function boxOfPath(boxes, path) {
  /** @type {Box | undefined} */
  let found = boxes[0];
  for (const box of boxes) {
    // Parents come before children, so one pass finds the way down.
    if (found !== undefined && box.parent === found && box.node !== null && box.node.group === path[found.depth]) found = box;
  }
  return found?.depth === path.length ? found : null;
}

/**
 * The box at a place.
 * @param {Box[]} boxes @param {number} x @param {number} depth
 */
export function boxAt(boxes, x, depth) {
  return boxes.find((box) => box.depth === depth && x >= box.x && x < box.x + box.width) ?? null;
}

/**
 * The neighbour of a box in a direction; itself when there is none.
 * @param {Box[]} boxes @param {Box} box @param {string} key of the keyboard
 */
export function neighbourOf(boxes, box, key) {
  if (key === 'ArrowUp') return box.parent ?? box;
  if (key === 'ArrowDown') return boxes.find((other) => other.parent === box) ?? box;
  const row = boxes.filter((other) => other.depth === box.depth).sort((a, b) => a.x - b.x);
  const index = row.indexOf(box) + (key === 'ArrowRight' ? 1 : -1);
  return row[index] ?? box;
}

/**
 * The node at a path; null when the answer does not hold it.
 * @param {FlameNode} root @param {number[]} path
 */
export function nodeAt(root, path) {
  /** @type {FlameNode | undefined} */
  let node = root;
  for (const group of path) {
    node = node.children.find((child) => child.group === group);
    if (node === undefined) return null;
  }
  return node;
}

/**
 * The time of all nodes that match, what is below another that matches not counted again.
 * @param {FlameNode} root @param {(group: number, name: string) => boolean} matches
 */
export function matchedTime(root, matches) {
  let time = 0;
  const waiting = [...root.children];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (matches(node.group, node.name)) time += node.total;
    else waiting.push(...node.children);
  }
  return time;
}
