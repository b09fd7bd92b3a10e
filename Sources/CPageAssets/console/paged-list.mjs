// A list whose further pages are loaded by a button.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { refusalSentence } from "./words.mjs";

const pageSize = 100;

/**
 * Reads the first page of a list; returns the nodes of the list, or a sentence in place of an empty one.
 *
 * @param {any} context
 * @param {{path: string, items: string, label: string, none: string, row: (item: any) => Node}} list `items` is the
 *   member of a page with its items
 */
export async function pagedList(context, { path, items, label, none, row }) {
  const read = (after = "") =>
    context.api.call("GET", `${path}?${new URLSearchParams({ limit: String(pageSize), ...(after && { after }) })}`);
  const list = el("ul", { class: "rows", "aria-label": label });
  const more = el("div", {});
  const append = (/** @type {any} */ page) => {
    const known = list.childElementCount;
    list.append(...page[items].map(row));
    more.replaceChildren(...page.more ? [moreButton(page.next)] : []);
    return list.children[known];
  };
  const moreButton = (/** @type {string} */ after) => {
    const button = el("button", { type: "button" }, "Load more");
    button.addEventListener("click", async () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      button.setAttribute("aria-disabled", "true");
      try {
        const added = append(await read(after));
        /** @type {HTMLElement | null} */ (added?.querySelector("a"))?.focus();
      } catch (error) {
        button.removeAttribute("aria-disabled");
        if (!(error instanceof Refused)) throw error;
        context.warn(refusalSentence(error));
      }
    });
    return button;
  };
  append(await read());
  return [list.childElementCount === 0 ? el("p", {}, none) : list, more];
}
