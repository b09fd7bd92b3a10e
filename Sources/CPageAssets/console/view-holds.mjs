// The legal holds in force.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { id, time } from "./format.mjs";
import { refusalSentence } from "./words.mjs";

const pageSize = 100;

/** @param {any} context */
export async function show(context) {
  const first = await read(context);
  const list = el("ul", { class: "rows", "aria-label": "Legal holds" });
  const more = el("div", {});
  const append = (/** @type {any} */ page) => {
    const known = list.childElementCount;
    list.append(...page.holds.map((/** @type {any} */ each) => row(context, each)));
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
    el("p", {}, "An account under a legal hold is not erased. Holds are in the order of their accounts."),
    first.holds.length === 0 ? el("p", {}, "No account is under a legal hold.") : list, more,
  ];
}

function read(context, after = "") {
  return context.api.call("GET", `v1/holds?${new URLSearchParams({ limit: String(pageSize), ...(after && { after }) })}`);
}

function row(context, { account, hold, made_at }) {
  const path = context.staff.role === "admin" ? `accounts/${account}/hold` : `accounts/${account}`;
  return el("li", {}, "Account ", context.link(path, id(account)), ", hold ", id(hold), made_at && " made ", made_at && time(made_at));
}
