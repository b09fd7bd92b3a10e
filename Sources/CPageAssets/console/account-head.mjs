// The head that the views of an account have in common: its state, its parts, and what can be done.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { count, id, list, shortID, time } from "./format.mjs";
import { confirmLink } from "./second-person.mjs";
import { factorKinds, states } from "./words.mjs";

const tabs = [["", "Timeline"], ["/as-of", "As of"], ["/compare", "Compare"], ["/picture", "Picture"]];

/** Reads something about an account; null for an unknown id. */
export async function readAccount(context, below = "", options = {}) {
  try {
    return await context.api.call("GET", `v1/accounts/${encodeURIComponent(context.params.id)}${below}`, undefined, options);
  } catch (error) {
    if (error instanceof Refused && (error.code === "ACCOUNT_NOT_FOUND" || error.status === 400)) return null;
    throw error;
  }
}

/** What is shown for an unknown id. */
export function unknownAccount(context) {
  context.setTitle("No account");
  return [el("p", {}, "There is no account of this id. ", context.link("search", "Search for it"))];
}

/** The tabs of the views of an account. */
export function accountTabs(context, active) {
  return el("nav", { "aria-label": "Account" }, el("ul", { class: "tabs" }, ...tabs.map(([below, text]) => {
    const link = context.link(`accounts/${context.params.id}${below}`, text);
    if (text === active) link.setAttribute("aria-current", "page");
    return el("li", {}, link);
  })));
}

/**
 * The state of an account in a line.
 *
 * @param {any} context
 * @param {any} account
 * @param {string} [conflicts] the number of its conflicts
 */
export function facts(context, account, conflicts) {
  const tone = { open: "good", disabled: "bad", erased: "bad" }[account.status] ?? "warn";
  const holds = account.legal_holds.length;
  return el("ul", { class: "facts", "aria-label": "Facts" },
    el("li", {}, "Account ", id(account.account)),
    el("li", {}, el("span", { class: `chip ${tone}` }, states[account.status] ?? account.status)),
    el("li", {}, account.linked_providers.length ? `signs in by ${list(account.linked_providers)}` : "no identity"),
    conflicts && el("li", {}, context.link(`conflicts?state=all&account=${account.account}`, conflicts)),
    holds > 0 && el("li", {}, el("span", { class: "chip warn" }, holds === 1 ? "legal hold" : `${holds} legal holds`)),
    account.second_factors.length > 0 && el("li", {}, count(account.second_factors.length, "second factor")),
    el("li", {}, count(account.session_count, "session")),
    account.opened && el("li", { class: "quiet" }, "opened ", time(account.opened.recorded_at)),
    account.erased && el("li", {}, "erased ", time(account.erased.recorded_at)));
}

/** That an account was merged into another one, which the views show. */
export function mergedNote(context, account) {
  return account.merged_into && el("p", { class: "warning" }, `Account ${shortID(context.params.id)} was merged into `,
    context.link(`accounts/${account.merged_into}`, id(account.merged_into)), ", which is shown here.");
}

/**
 * The identities of an account, and what else belongs to it.
 *
 * @param {any} context
 * @param {any} account
 * @param {Map<string, {name?: string, email?: string, email_verified?: boolean}> | null} disclosed by the identity's id
 */
export function parts(context, account, disclosed) {
  const mayRepair = context.staff.role !== "auditor";
  const merges = new Map((account.merges ?? []).map((merge) => [merge.absorbed, merge.event_id]));
  const identities = account.links.map((link) => {
    const shown = disclosed?.get(link.identity_id);
    const view = `accounts/${account.account}/unlink?identity=${link.identity_id}`;
    const mayUnlink = mayRepair && account.status === "open";
    return el("li", {}, el("ul", { class: "facts" },
      el("li", {}, el("b", {}, link.provider)),
      el("li", {}, context.link(`identities/${link.identity_id}`, id(link.identity_id))),
      el("li", { class: "quiet" }, "linked ", time(link.linked_at, "near")),
      link.unlink_due && el("li", { class: "warning" }, "is unlinked ", time(link.unlink_due)),
      shown?.email && el("li", { class: "personal" }, `${shown.email} `,
        el("span", { class: "quiet" }, shown.email_verified ? "(verified)" : "(NOT verified)")),
      shown?.name && el("li", { class: "personal" }, `named ${shown.name}`),
      mayUnlink && el("li", {}, context.link(view, link.unlink_due ? "Planned unlink" : "Unlink")),
      mayUnlink && link.unlink_due && confirmItem(context, view)));
  });
  return /** @type {Node[]} */ ([
    identities.length > 0 && el("h2", {}, "Identities"),
    identities.length > 0 && el("ul", { class: "rows", "aria-label": "Identities" }, ...identities),
    ...factorsOf(context, account),
    account.absorbed.length > 0 && el("h2", {}, "Absorbed accounts"),
    account.absorbed.length > 0 && el("ul", { class: "rows", "aria-label": "Absorbed accounts" }, ...account.absorbed.map((each) =>
      el("li", {}, context.link(`accounts/${each}`, id(each)), " ", mayRepair && merges.has(each)
        && context.link(`accounts/${account.account}/undo?merge=${merges.get(each)}`, "Undo merge")))),
    ...holdsOf(context, account),
  ].filter(Boolean));
}

function confirmItem(context, view) {
  const link = confirmLink(context, view);
  return link && el("li", {}, link);
}

/** The second factors, of which support may remove a lost one. */
function factorsOf(context, account) {
  if (!account.factors?.length) return [];
  const mayRepair = context.staff.role !== "auditor" && account.status !== "erased";
  return [el("h2", {}, "Second factors"), el("ul", { class: "rows", "aria-label": "Second factors" }, ...account.factors.map((each) => {
    const view = `accounts/${account.account}/factor?factor=${each.factor_id}`;
    return el("li", {}, el("ul", { class: "facts" },
      el("li", {}, el("b", {}, factorKinds[each.type] ?? each.type)), el("li", {}, id(each.factor_id)),
      each.removal_due && el("li", { class: "warning" }, "is removed ", time(each.removal_due)),
      mayRepair && each.type !== "recovery_codes"
        && el("li", {}, context.link(view, each.removal_due ? "Planned removal" : "Remove a lost factor")),
      mayRepair && each.removal_due && account.status === "open" && confirmItem(context, view)));
  }))];
}

function holdsOf(context, account) {
  const holds = account.holds ?? account.legal_holds.map((hold) => ({ hold }));
  if (!holds.length) return [];
  return [el("h2", {}, "Legal holds"), el("ul", { class: "rows", "aria-label": "Legal holds" }, ...holds.map((each) =>
    el("li", {}, id(each.hold), each.set_at && " set ", each.set_at && time(each.set_at),
      each.event_id && " ", each.event_id && context.link(`events/${each.event_id}`, `#${each.position}`),
      each.reason && el("span", { class: "personal" }, ` for: ${each.reason}`))))];
}

/** What the person of the staff can do with the account. */
export function actions(context, account) {
  const { role } = context.staff;
  const base = `accounts/${account.account}`;
  const isLive = account.status === "open" || account.status === "disabled";
  const links = [];
  if (role !== "auditor" && isLive) {
    links.push([`${base}/merge`, "Merge…"], [`${base}/${account.status === "disabled" ? "enable" : "disable"}`,
      account.status === "disabled" ? "Enable…" : "Disable…"], [`${base}/end-sessions`, "End sessions…"]);
  }
  if (role !== "support") links.push([`export?account=${account.account}`, "Export"]);
  if (role === "admin" && account.status !== "erased") links.push([`${base}/hold`, "Legal hold…"], [`${base}/erase`, "Erase account…"]);
  return links.map(([path, text]) => {
    const link = context.link(path, text);
    link.className = "button";
    return link;
  });
}
