// The log, newest first and filtered by its address; with Follow as it grows.

import { el } from "../lib/el.mjs";
import { rowOf } from "./event-rows.mjs";
import { filterForm, filterNames, wanted } from "./event-filters.mjs";
import { following } from "./event-follow.mjs";
import { once } from "./repair-steps.mjs";

const pageSize = 50;

/** @param {any} context */
export async function show(context) {
  const filters = wanted(context.query);
  const rows = el("ol", { class: "rows events", "aria-label": "Events" });
  const empty = el("p", {});
  const more = el("div", {});
  const seen = new Set();

  /** Adds events that are not shown yet; returns how many. */
  const add = (/** @type {any[]} */ events, /** @type {"start" | "end"} */ where) => {
    const fresh = events.filter(({ position }) => !seen.has(position));
    for (const { position } of fresh) seen.add(position);
    const nodes = fresh.map((event) => rowOf(context, event));
    if (where === "start") rows.prepend(...nodes);
    else rows.append(...nodes);
    return nodes;
  };
  const read = (/** @type {string | null} */ before) => {
    const query = new URLSearchParams({ ...filters, order: "newest", limit: String(pageSize) });
    if (before !== null) query.set("before", before);
    return context.api.call("GET", `v1/events?${query}`);
  };
  const append = (/** @type {any} */ answer) => {
    const nodes = add(answer.events, "end");
    empty.textContent = rows.childElementCount > 0 ? "" : emptyText(filters, answer.more);
    more.replaceChildren(...(answer.more ? [olderButton(answer.next)] : []));
    return nodes;
  };
  const olderButton = (/** @type {string} */ next) => {
    const button = el("button", { type: "button" }, "Load older");
    button.addEventListener("click", () => once(context, button, async () => {
      const [first] = append(await read(next));
      /** @type {HTMLElement | null} */ (first?.querySelector("a") ?? more.querySelector("button"))?.focus();
    }));
    return button;
  };

  append(await read(null));
  const follow = following(context, {
    filters, rows,
    newest: async () => {
      const answer = await read(null);
      const fresh = add(answer.events, "start").length;
      return { hasGap: answer.more && fresh >= pageSize && fresh === answer.events.length };
    },
    add: (events) => {
      empty.textContent = "";
      return add(events, "start").length;
    },
  });
  return [
    filterForm(context), el("p", { class: "quiet" }, filteredText(filters)), ...follow, rows, empty, more,
  ];
}

/** @param {Record<string, string>} filters */
function filteredText(filters) {
  const texts = Object.entries(filters).map(([name, value]) => `${filterNames[name]} ${value}`);
  return texts.length > 0 ? `Newest first, only with: ${texts.join(", ")}.` : "Newest first, every event.";
}

/**
 * @param {Record<string, string>} filters
 * @param {boolean} isMore
 */
function emptyText(filters, isMore) {
  if (isMore) return "No event matches among the newest ones. Load older ones to search on.";
  return Object.keys(filters).length > 0 ? "No event matches these filters." : "No events yet: sign-ins, links and refusals will be here.";
}
