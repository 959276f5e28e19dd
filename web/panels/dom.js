// Making DOM nodes. Text is always text: names of functions never pass through a parser of HTML, and nothing sets a style
// attribute, which the page's Content-Security-Policy refuses.

/** @typedef {Node | string | null | undefined | false} Child */
/**
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Properties
 *   functions are listeners ("click"); true is an attribute without value, false, null and undefined none
 */

/** @param {Element} node @param {Properties} properties */
function setProperties(node, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function present(children) {
  return /** @type {(Node | string)[]} */ (children.filter((child) => child !== null && child !== undefined && child !== false));
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {Properties} [properties] @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, properties = {}, ...children) {
  const node = document.createElement(name);
  setProperties(node, properties);
  node.append(...present(children));
  return node;
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name @param {Properties} [properties] @param {...Child} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, properties = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  setProperties(node, properties);
  node.append(...present(children));
  return node;
}

/**
 * @param {string} text @param {() => void} click @param {Properties} [properties] "title" says more, such as the key
 */
export function button(text, click, properties = {}) {
  return element('button', { type: 'button', click, ...properties }, text);
}

/** @param {Element} node @param {...Child} children */
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
}
