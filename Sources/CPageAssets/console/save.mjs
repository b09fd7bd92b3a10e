// Files that the page makes, saved by the browser.

import { el } from "../lib/el.mjs";

/**
 * @param {string} name
 * @param {BlobPart[]} parts
 * @param {string} type
 */
export function download(name, parts, type = "application/octet-stream") {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = /** @type {HTMLAnchorElement} */ (el("a", { href: address, download: name }));
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
