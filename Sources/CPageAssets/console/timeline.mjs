// The events of an account and of those merged with it, as sentences.

import { el } from "../lib/el.mjs";
import { dayOf, id, time } from "./format.mjs";
import { actorWords, passiveSentence, reasonWords, rowVerb } from "./words.mjs";

/** Kinds of events for the filter. */
export const kinds = {
  all: ["All kinds", () => true],
  links: ["Links and unlinks", (type) => /^Provider(Linked|Unlink)|^AccountOpened$|^PasskeyRegistered$/.test(type)],
  refused: ["Conflicts and refusals", (type) => /Rejected$|Refused$|Throttled$|Revoked$/.test(type)],
  sign_ins: ["Sign-ins and sign-outs", (type) => /^Sign|^Session|Factor|^RecoveryCode/.test(type)],
  merges: ["Merges", (type) => /^Accounts(Merged|Unmerged)$/.test(type)],
  state: ["Addresses, passwords and states", (type) => /^Address|^PasswordSet|^Account(Disabled|Enabled|Erased)|^LegalHold/.test(type)],
};

const disclosureNames = {
  client_ip: "IP address", email: "e-mail", email_verified: "e-mail verified", phone: "phone", provider_id: "provider's id",
  case_reference: "case", reason: "reason", user_agent: "device",
};

/**
 * The absorbed accounts of each row: those that were one with the account when it happened.
 *
 * @param {any[]} rows
 * @param {{isNewestFirst: boolean, absorbed: string[]}} facts `absorbed` are those at the newest row
 * @returns {string[][]}
 */
export function mergedAt(rows, { isNewestFirst, absorbed }) {
  const oldestFirst = isNewestFirst ? [...rows].reverse() : rows;
  const changes = oldestFirst.filter(({ type }) => type === "AccountsMerged" || type === "AccountsUnmerged");
  // Before the rows that are loaded: what is absorbed now and not by one of them, or is given back by one of them.
  const now = new Set();
  for (const { type, accounts } of [...changes].reverse()) {
    const other = accounts[1]?.account;
    if (type === "AccountsUnmerged") now.add(other);
    else now.delete(other);
  }
  for (const each of isNewestFirst ? absorbed : []) {
    if (!changes.some(({ type, accounts }) => type === "AccountsMerged" && accounts[1]?.account === each)) now.add(each);
  }
  const sets = oldestFirst.map(({ type, accounts }) => {
    const other = accounts[1]?.account;
    if (type === "AccountsMerged") now.add(other);
    const then = [...now];
    if (type === "AccountsUnmerged") now.delete(other);
    return then;
  });
  return isNewestFirst ? sets.reverse() : sets;
}

/**
 * A row.
 *
 * @param {any} context
 * @param {any} row
 * @param {{account: any, accounts: any[], merged: string[], day: boolean, disclosures?: Record<string, any>}} facts
 *   `accounts` are those of the timeline; `day` says that the row begins one
 */
export function timelineRow(context, row, { account, accounts, merged, day, disclosures }) {
  const own = new Set(accounts.map((each) => each.account));
  const [first] = row.accounts;
  const isOther = first && !own.has(first.account);
  const other = row.accounts.find((each) => each !== first);
  const why = isOther ? "" : reasonWords(row.type, row.reason);
  return el("li", { class: merged.length ? "merged" : null, "data-position": row.position },
    day && el("p", { class: "day" }, time(row.recorded_at, "day")),
    el("div", { class: row.outcome === "refused" ? "event refused" : "event" },
      time(row.recorded_at, "clock"),
      el("span", { class: "what" },
        ...accounts.length > 1 && first && !isOther ? ["account ", party(context, first), " "] : [],
        isOther ? passiveSentence(row) : rowVerb(row),
        ...row.type === "ConflictRejected" && why ? [`: ${why}`] : [],
        ...isOther || other ? [" ", party(context, isOther ? first : other)] : [],
        ...row.type !== "ConflictRejected" && why ? [`: ${why}`] : [],
        " ", el("span", { class: "quiet" }, actorWords(row.actor))),
      context.link(`events/${row.event_id}`, `#${row.position}`),
      ...offers(context, row, account)),
    row.type === "AccountsMerged" && el("p", { class: "band" }, "From here on, the two accounts are one."),
    row.type === "AccountsUnmerged" && el("p", { class: "band" }, "Until here, the two accounts were one."),
    disclosures && personal(disclosures));
}

function party(context, { account }) {
  return context.link(`accounts/${account}`, id(account));
}

/** What fits a row: to link again, to undo, to merge, to unlink. */
function offers(context, row, account) {
  if (context.staff.role === "auditor" || account.status === "erased") return [];
  const path = `accounts/${account.account}`;
  const isLinked = account.links.some((link) => link.identity_id === row.identity_id);
  if (row.type === "ProviderUnlinked" && !isLinked && row.reason !== "upgraded" && row.accounts[0]) {
    return [context.link(`${path}/relink?identity=${row.identity_id}`, "Link again")];
  }
  if (row.type === "ProviderLinked" && isLinked && account.links.length > 1) {
    return [context.link(`${path}/unlink?identity=${row.identity_id}`, "Unlink")];
  }
  if (row.type === "AccountsMerged" && account.absorbed.includes(row.accounts[1]?.account)) {
    return [context.link(`${path}/undo?merge=${row.event_id}`, "Undo merge")];
  }
  if (row.type === "ConflictRejected" && row.reason === "held_by_other") {
    const [caller, holder] = row.accounts.map((each) => each.account);
    const isOne = [account.account, ...account.absorbed].includes(caller) && [account.account, ...account.absorbed].includes(holder);
    if (holder && !isOne) return [context.link(`accounts/${caller}/merge?absorb=${holder}`, "Preview merge")];
  }
  return [];
}

function personal(disclosures) {
  const entries = Object.entries(disclosures).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (!entries.length) return null;
  return el("ul", { class: "facts personal" }, ...entries.map(([name, value]) =>
    el("li", {}, el("span", { class: "quiet" }, `${disclosureNames[name] ?? name.replaceAll("_", " ")}: `), words(value))));
}

function words(value) {
  return typeof value === "object" ? JSON.stringify(value) : { true: "yes", false: "NO" }[String(value)] ?? String(value);
}

/** Whether a row begins a day, after the one before it. */
export function beginsDay(row, before) {
  return !before || dayOf(row.recorded_at) !== dayOf(before.recorded_at);
}

/** The statement of completeness, with its note. */
export function completenessNode({ statement, rests_on }) {
  return el("div", { class: "panel" }, el("p", { id: "completeness" }, `${statement}.`),
    rests_on === "decision_state" && el("p", { class: "warning" },
      "That no event follows rests on the server's tables, not on the log alone. Verify the log to be sure."));
}
