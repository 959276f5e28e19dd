// Other views of a flame graph, made from its tree of stacks: upside down, and what one function calls or is called by. No DOM here.

/** @typedef {import('../data/source.js').FlameNode} FlameNode */
/** @typedef {import('../view_state.js').FlameView} FlameView */
/** @typedef {FlameNode & {below: Map<number, Merged>}} Merged while it is being put together */

/** @param {number} group @param {string} name @returns {Merged} */
function merged(group, name) {
  return { group, name, calls: 0, total: 0, self: 0, omitted: 0, children: [], below: new Map() };
}

/** @param {Merged} parent @param {FlameNode} node @returns {Merged} the parent's child of the same function */
function childOf(parent, { group, name }) {
  let child = parent.below.get(group);
  if (child === undefined) {
    child = merged(group, name);
    parent.below.set(group, child);
  }
  return child;
}

/**
 * Without recursion: stacks may be deeper than the browser's own.
 * @param {Merged} root @returns {FlameNode}
 */
function finished(root) {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const children = [...node.below.values()].sort((a, b) => b.total - a.total || a.group - b.group);
    node.children = children;
    waiting.push(...children);
  }
  return root;
}

/**
 * Visits all nodes below the root, callers first, with the stack that leads to each, outermost first.
 * @param {FlameNode} root @param {(stack: FlameNode[]) => boolean | void} visit true: nothing below it is visited
 */
function eachStack(root, visit) {
  /** @type {FlameNode[]} */
  const stack = [];
  /** @type {{node: FlameNode, depth: number}[]} */
  const waiting = root.children.map((node) => ({ node, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, depth } = next;
    stack.length = depth;
    stack.push(node);
    if (visit(stack) !== true) for (const child of node.children) waiting.push({ node: child, depth: depth + 1 });
  }
}

/**
 * Adds a stack from its inner end on.
 * @param {Merged} root @param {FlameNode[]} stack @param {number} time @param {number} calls of the innermost
 */
function addFromInside(root, stack, time, calls) {
  let at = root;
  for (let i = stack.length - 1; i >= 0; i--) {
    at = childOf(at, stack[i]);
    at.total += time;
    at.calls += calls;
  }
  at.self += time;
}

/**
 * Where the time was spent itself, with its callers below.
 * @param {FlameNode} root
 */
function upsideDown(root) {
  const result = merged(-1, 'all');
  eachStack(root, (stack) => {
    const { self, calls, omitted } = stack[stack.length - 1];
    if (self > 0) addFromInside(result, stack, self, calls);
    result.omitted += omitted;
  });
  result.omitted += root.omitted;
  result.total = root.total;
  return finished(result);
}

/**
 * The callers of a function, each below what it calls; of a recursion those of the outermost call.
 * @param {FlameNode} root @param {number} group
 */
function callersOf(root, group) {
  const result = merged(-1, 'all');
  eachStack(root, (stack) => {
    const node = stack[stack.length - 1];
    if (node.group !== group) return false;
    addFromInside(result, stack, node.total, node.calls);
    result.total += node.total;
    return true;
  });
  return finished(result);
}

/**
 * What all calls of a function call, together.
 * @param {FlameNode} root @param {number} group
 */
function calleesOf(root, group) {
  const result = merged(-1, 'all');
  /** @type {{node: FlameNode, into: Merged}[]} */
  const waiting = [];
  eachStack(root, (stack) => {
    const node = stack[stack.length - 1];
    if (node.group !== group) return false;
    result.total += node.total;
    waiting.push({ node, into: result });
    return true;
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, into } = next;
    const own = childOf(into, node);
    for (const of of /** @type {const} */ (['total', 'self', 'calls', 'omitted'])) own[of] += node[of];
    for (const child of node.children) waiting.push({ node: child, into: own });
  }
  return finished(result);
}

/**
 * @param {FlameNode} root of the stacks @param {FlameView} view @param {number | null} group the function whose callers or callees are shown
 * @returns {FlameNode}
 */
export function flameView(root, view, group) {
  if (view === 'upside-down') return upsideDown(root);
  if (view === 'stacks' || group === null) return root;
  return view === 'callers' ? callersOf(root, group) : calleesOf(root, group);
}
