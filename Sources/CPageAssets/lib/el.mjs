// Elements from texts: no function here makes HTML of a text.

/**
 * Makes an element.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties] attributes, and listeners as `onclick`; null and false are left out
 * @param {...(Node | string | null | false | undefined)} children
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

const svgNamespace = "http://www.w3.org/2000/svg";

/**
 * Makes an element of SVG.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} properties
 * @param {...Node} children
 */
export function svg(tag, properties, ...children) {
  const node = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(properties)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}
