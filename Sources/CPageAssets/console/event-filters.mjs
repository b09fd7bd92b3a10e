// The filters of events, which stand in the address.

import { el } from "../lib/el.mjs";
import { eventTypes } from "./words.mjs";

/** The filters by their names in the address, which are those of the API. */
export const filterNames = {
  type: "type", provider: "provider", outcome: "outcome", account: "account", actor: "actor", identity: "identity",
  request: "request", from: "from", to: "to",
};
const hints = {
  type: "such as ProviderLinked", provider: "such as google", account: "id of an account",
  actor: "account:ID, api_key:ID, staff:ID or system", identity: "id of an identity", request: "id of a request",
  from: "position, or time such as 2026-11-21T00:00:00Z", to: "position or time, inclusive",
};
const common = ["type", "provider", "outcome", "account"];

/**
 * The filters of an address; unknown and empty ones don't count.
 *
 * @param {URLSearchParams} query
 * @returns {Record<string, string>}
 */
export function wanted(query) {
  /** @type {Record<string, string>} */
  const filters = {};
  for (const name of Object.keys(filterNames)) {
    const value = query.get(name)?.trim();
    if (value) filters[name] = value;
  }
  return filters;
}

/** The form of the filters. */
export function filterForm(/** @type {any} */ context) {
  const filters = wanted(context.query);
  const fields = Object.keys(filterNames).map((name) => ({ name, ...fieldOf(name, filters[name] ?? "") }));
  const rare = fields.filter(({ name }) => !common.includes(name));
  return el("form", {
    class: "filters", role: "search", "aria-label": "Filter events",
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const query = new URLSearchParams();
      for (const { name, input } of fields) if (input.value.trim()) query.set(name, input.value.trim());
      context.go(String(query) ? `events?${query}` : "events");
    },
  },
  el("div", { class: "forms" }, ...fields.filter(({ name }) => common.includes(name)).map(({ node }) => node)),
  el("details", { open: rare.some(({ input }) => input.value !== "") },
    el("summary", {}, "More filters"), el("div", { class: "forms" }, ...rare.map(({ node }) => node))),
  el("div", { class: "actions" },
    el("button", { type: "submit" }, "Filter"),
    Object.keys(filters).length > 0 && context.link("events", "Without filters")),
  el("datalist", { id: "event-types" }, ...Object.entries(eventTypes).map(([type, words]) => el("option", { value: type }, words))));
}

/**
 * @param {string} name
 * @param {string} value
 */
function fieldOf(name, value) {
  const id = `filter-${name}`;
  const label = filterNames[name].slice(0, 1).toUpperCase() + filterNames[name].slice(1);
  const input = name === "outcome"
    ? /** @type {HTMLSelectElement} */ (el("select", { id }, ...[["", "any"], ["accepted", "accepted"], ["refused", "refused"]]
      .map(([each, text]) => el("option", { value: each, selected: each === value }, text))))
    : /** @type {HTMLInputElement} */ (el("input", {
      id, value, autocomplete: "off", spellcheck: "false", list: name === "type" && "event-types",
      "aria-describedby": `${id}-hint`,
    }));
  const hint = hints[name] && el("span", { class: "quiet hint", id: `${id}-hint` }, hints[name]);
  return { input, node: el("div", { class: "field" }, el("label", { for: id }, label), input, hint) };
}
