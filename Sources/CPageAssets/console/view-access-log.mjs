// The access log: who looked at or changed something, why, and whether personal data was shown.

import { el } from "../lib/el.mjs";
import { accountLink } from "./event-rows.mjs";
import { shortID, time } from "./format.mjs";
import { once } from "./repair-steps.mjs";

const pageSize = 50;
const names = { principal: "By", from: "From", to: "To" };
const hints = {
  principal: "staff:ID, api_key:ID or operator", from: "position, or time such as 2026-11-21T00:00:00Z",
  to: "position or time, inclusive",
};
/** The actions in words; of others, their name. */
const actions = {
  "access_log.list": "read the access log", "account.read": "read an account", "account.history": "read the history of",
  "account.diff": "compared moments of", "account.timeline": "read the timeline of", "conflict.list": "read conflicts",
  "conflict.read": "read a conflict", "conflict.count": "counted conflicts", "conflict.review": "noted about a conflict",
  "event.list": "read events", "event.read": "read", "event.stream": "followed the events", "log.checkpoint": "read the newest checkpoint",
  "log.checkpoints": "read checkpoints", "log.inclusion": "asked for a proof of an event",
  "log.consistency": "asked for a proof between checkpoints", "log.keys": "read the keys of the log", "log.export": "exported a bundle",
  "account.erase": "erased", "account.erase_request": "asked another administrator to erase",
  "account.erase_confirm": "confirmed the erasure of", "account.erase_withdraw": "withdrew the request to erase",
  "erasure_request.list": "read the erasures to confirm", "account.erase_preview": "previewed the erasure of", "account.hold": "set a legal hold on", "account.lift_hold": "lifted a legal hold of",
  "account.merge": "merged accounts into", "account.merge_request": "asked another person to merge accounts into", "merge.undo": "undid a merge of", "merge.undo_request": "asked another person to undo a merge of", "account.disable": "disabled", "account.enable": "enabled",
  "account.end_sessions": "ended all sessions of", "identity.relink": "linked an identity again to", search: "searched",
};

/** @param {any} context */
export async function show(context) {
  const filters = wanted(context.query);
  const rows = el("ol", { class: "rows", "aria-label": "Accesses" });
  const empty = el("p", {});
  const more = el("div", {});
  const read = (/** @type {string | null} */ before) => {
    const query = new URLSearchParams({ ...filters, order: "newest", limit: String(pageSize) });
    if (before !== null) query.set("before", before);
    return context.api.call("GET", `v1/access-log?${query}`);
  };
  const append = (/** @type {any} */ answer) => {
    const known = rows.childElementCount;
    rows.append(...answer.accesses.map((/** @type {any} */ access) => rowOf(context, access)));
    empty.textContent = rows.childElementCount > 0 ? "" : answer.more
      ? "No access matches among the newest ones. Load older ones to search on." : "No access matches these filters.";
    more.replaceChildren(...(answer.more ? [olderButton(answer.next)] : []));
    return rows.children[known];
  };
  const olderButton = (/** @type {string} */ next) => {
    const button = el("button", { type: "button" }, "Load older");
    button.addEventListener("click", () => once(context, button, async () => {
      const first = append(await read(next));
      /** @type {HTMLElement | null} */ (first?.querySelector("a") ?? more.querySelector("button"))?.focus();
    }));
    return button;
  };
  append(await read(null));
  return [
    filterForm(context, filters),
    el("p", { class: "quiet" }, "Newest first. Reading this list is recorded, too."), rows, empty, more,
  ];
}

/**
 * @param {URLSearchParams} query
 * @returns {Record<string, string>}
 */
function wanted(query) {
  /** @type {Record<string, string>} */
  const filters = {};
  for (const name of Object.keys(names)) {
    const value = query.get(name)?.trim();
    if (value) filters[name] = value;
  }
  return filters;
}

/**
 * @param {any} context
 * @param {Record<string, string>} filters
 */
function filterForm(context, filters) {
  const fields = Object.keys(names).map((name) => {
    const id = `filter-${name}`;
    const input = /** @type {HTMLInputElement} */ (el("input", {
      id, value: filters[name] ?? "", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-hint`,
    }));
    return { name, input, node: el("div", { class: "field" }, el("label", { for: id }, names[name]), input,
      el("span", { class: "quiet hint", id: `${id}-hint` }, hints[name])) };
  });
  return el("form", {
    class: "filters", role: "search", "aria-label": "Filter accesses",
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const query = new URLSearchParams();
      for (const { name, input } of fields) if (input.value.trim()) query.set(name, input.value.trim());
      context.go(String(query) ? `access-log?${query}` : "access-log");
    },
  },
  el("div", { class: "forms" }, ...fields.map(({ node }) => node)),
  el("div", { class: "actions" }, el("button", { type: "submit" }, "Filter"),
    Object.keys(filters).length > 0 && context.link("access-log", "Without filters")));
}

/**
 * @param {any} context
 * @param {any} access
 */
function rowOf(context, access) {
  const { position, accessed_at: at, principal, role, action, account, event, disclosed, reason, outcome, request, details } = access;
  const words = Object.hasOwn(actions, action) ? actions[action] : String(action).replaceAll(/[._]/g, " ");
  const given = Object.entries(details ?? {}).map(([name, value]) => `${name} ${value}`);
  return el("li", { class: outcome },
    `#${position} `, time(at), " ", context.link(`access-log?principal=${encodeURIComponent(principal)}`, whoOf(principal)),
    role && `, ${role}`, ` ${words} `, account && accountLink(context, account),
    event && context.link(`events/${event}`, ` event ${shortID(event)}`),
    outcome === "refused" && el("strong", { class: "mark" }, " refused"),
    disclosed && el("strong", { class: "mark" }, " personal data was shown"),
    reason && el("span", {}, " Reason: ", el("q", {}, reason)),
    el("details", {}, el("summary", {}, `Details of #${position}`), el("dl", { class: "facts-list" },
      ...[["Who", principal], ["Action", action], ["Account", account], ["Event", event], ["Personal data", disclosed ? "shown" : "not shown"],
        ["Outcome", outcome], ["Request", request], ["Given", given.join(", ")]]
        .flatMap(([name, value]) => (value ? [el("dt", {}, name), el("dd", {}, value)] : [])))));
}

/** @param {string} principal */
function whoOf(principal) {
  const [kind, id] = principal.split(":");
  const kinds = { staff: "staff", api_key: "API key", operator: "operator" };
  return id ? `${kinds[kind] ?? kind} ${shortID(id)}` : kinds[kind] ?? kind;
}
