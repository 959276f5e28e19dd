// Two call trees as one, from the server's answer: each node with the calls and times of both sides. No DOM here.

/** @typedef {import('../data/source.js').ComparedNode} ComparedNode */
/** @typedef {import('../data/source.js').FlameNode} FlameNode */
/**
 * @typedef {Omit<FlameNode, 'children'> & {callsA: number, callsB: number, totalA: number, totalB: number, children: DifferenceNode[]}} DifferenceNode
 *   total: of A and B together, so that the boxes of a flame graph nest
 */

/**
 * @param {ComparedNode[]} nodes parents before children, the root first
 * @returns {DifferenceNode}
 */
export function differenceTree(nodes) {
  /** @type {DifferenceNode[]} */
  const made = nodes.map(([, group, callsA, selfA, totalA, callsB, selfB, totalB]) => ({
    group: group ?? -1, name: '', calls: callsA + callsB, total: totalA + totalB, self: selfA + selfB, omitted: 0, children: [], callsA, callsB, totalA, totalB,
  }));
  made.forEach((node, number) => number > 0 && made[nodes[number][0]].children.push(node));
  for (const { children } of made) children.sort((a, b) => b.total - a.total || a.group - b.group);
  return made[0];
}

/** @param {DifferenceNode} node */
export const differenceOf = (node) => node.totalB - node.totalA;

/**
 * The nodes whose difference is at least a share of the largest, callers before what they call, larger differences first.
 * @param {DifferenceNode} root @param {number} share @param {number} most so many at most
 */
export function differencesBelow(root, share, most) {
  let largest = 0;
  const all = [root];
  for (let node = all.pop(); node !== undefined; node = all.pop()) {
    largest = Math.max(largest, Math.abs(differenceOf(node)));
    all.push(...node.children);
  }
  /** @type {{node: DifferenceNode, depth: number, path: number[]}[]} */
  const rows = [];
  const waiting = [{ node: root, depth: 0, path: /** @type {number[]} */ ([]) }];
  for (let next = waiting.pop(); next !== undefined && rows.length < most; next = waiting.pop()) {
    rows.push(next);
    const { node, depth, path } = next;
    const below = node.children.filter((child) => differenceOf(child) !== 0 && Math.abs(differenceOf(child)) >= share * largest);
    below.sort((a, b) => Math.abs(differenceOf(a)) - Math.abs(differenceOf(b)));
    waiting.push(...below.map((child) => ({ node: child, depth: depth + 1, path: [...path, child.group] })));
  }
  return rows;
}
