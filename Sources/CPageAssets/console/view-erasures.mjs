// The erasures that an administrator asked for, and that another one has to confirm.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { askedNode } from "./erasure-request.mjs";
import { id } from "./format.mjs";
import { refusalSentence } from "./words.mjs";

const pageSize = 100;

/** @param {any} context */
export async function show(context) {
  const first = await read(context);
  const list = el("ul", { class: "rows", "aria-label": "Erasures to confirm" });
  const more = el("div", {});
  const append = (/** @type {any} */ page) => {
    const known = list.childElementCount;
    list.append(...page.requests.map((/** @type {any} */ each) => row(context, each)));
    more.replaceChildren(...page.more ? [moreButton(page.next)] : []);
    return list.children[known];
  };
  const moreButton = (/** @type {string} */ after) => {
    const button = el("button", { type: "button" }, "Load more");
    button.addEventListener("click", async () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      button.setAttribute("aria-disabled", "true");
      try {
        const added = append(await read(context, after));
        /** @type {HTMLElement | null} */ (added?.querySelector("a"))?.focus();
      } catch (error) {
        button.removeAttribute("aria-disabled");
        if (!(error instanceof Refused)) throw error;
        context.warn(refusalSentence(error));
      }
    });
    return button;
  };
  append(first);
  return [
    el("p", {}, "Where an erasure needs two administrators, the first one asks for it here, and nothing is erased before another one confirms it."),
    first.requests.length === 0 ? el("p", {}, "No erasure waits for a confirmation.") : list, more,
  ];
}

function read(context, after = "") {
  return context.api.call("GET", `v1/erasure-requests?${new URLSearchParams({ limit: String(pageSize), ...(after && { after }) })}`);
}

function row(context, request) {
  return el("li", {}, "Account ", id(request.account), " ", askedNode(request), " ",
    context.link(`accounts/${request.account}/erase`, request.yours ? "Open" : "Confirm or withdraw…"));
}
