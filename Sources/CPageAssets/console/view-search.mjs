// The search for accounts by an e-mail, a phone number, a provider's id or any id.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { Refused } from "../lib/api.mjs";
import { reasonFault, reasonHeader } from "./dialogs.mjs";
import { count, id, isID, list } from "./format.mjs";
import { matches, refusalSentence, states } from "./words.mjs";

const bytesMax = 320;
/** The last search of this page, for the way back from an account. @type {{reason: string, answer: any} | null} */
let last = null;
document.addEventListener("session-over", () => { last = null; });

/** @param {any} context */
export async function show(context) {
  const mayDisclose = context.staff.role !== "auditor";
  const query = field("E-mail, provider's id or any id", { name: "query", autocomplete: "off", spellcheck: "false", type: "search" },
    mayDisclose ? "A phone number begins with + and the code of its country." : undefined);
  const reason = field("Reason", { autocomplete: "off", required: false },
    "Needed for anything but an id. It is recorded, the search term is not.");
  const results = el("div", { id: "results" });
  const search = async (/** @type {HTMLElement} */ button) => {
    const fault = check(query.value.trim(), reason.value, mayDisclose);
    if (fault.query) query.fault(fault.query);
    if (fault.reason) reason.fault(fault.reason);
    if (fault.query || fault.reason || button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    context.warn("");
    context.say("Searching…");
    try {
      const headers = reason.value.trim() ? reasonHeader(reason.value) : {};
      const answer = await context.api.call("POST", "v1/search", { query: query.value.trim() }, { headers });
      last = { reason: reason.value.trim(), answer };
      results.replaceChildren(...found(context, answer));
      context.say(summary(answer));
    } catch (error) {
      context.say("");
      if (!(error instanceof Refused)) throw error;
      context.warn(refusalSentence(error), error.requestId && el("p", { class: "quiet" }, `Request ${error.requestId}`));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  };
  const node = form({
    fields: mayDisclose ? [query, reason] : [query], submit: "Search", missing: "Enter what to search for", onsubmit: search,
  });
  node.classList.add("search");
  node.setAttribute("role", "search");
  const asked = context.query.get("q") ?? "";
  if (isID(asked)) query.input.value = asked;
  if (last) {
    reason.input.value = last.reason;
    results.append(...found(context, last.answer));
  }
  return [
    !mayDisclose && el("p", {}, "Auditors search by the id of an account, an identity, an event, a merge or a request."),
    node, results,
  ];
}

/**
 * What is wrong with a search before it is sent.
 *
 * @returns {{query?: string, reason?: string}}
 */
export function check(query, reason, mayDisclose) {
  if (new TextEncoder().encode(query).length > bytesMax) return { query: `This is longer than ${bytesMax} bytes` };
  if (isID(query)) return reason.trim() && mayDisclose ? (reasonFault(reason) ? { reason: reasonFault(reason) } : {}) : {};
  if (!mayDisclose) {
    return { query: query.includes("@") ? "Only support and administrators may search by an e-mail."
      : "Only support and administrators may search by anything but an id." };
  }
  return reasonFault(reason) ? { reason: reasonFault(reason) } : {};
}

/** What was found, in a sentence. */
export function summary({ accounts, identities, events, more }) {
  const parts = [];
  if (accounts.length) parts.push(`${count(accounts.length, "account")}, found ${list(how(accounts))}`);
  if (identities.length) parts.push(count(identities.length, "identity", "identities"));
  if (events.length) parts.push(count(events.length, "event"));
  if (!parts.length) return more ? "Nothing found, but the search was not complete" : "No account found";
  return parts.join("; ");
}

function how(found) {
  const codes = new Set(found.flatMap((each) => each.matched_by ?? []));
  return [...codes].map((code) => matches[code] ?? code);
}

function found(context, answer) {
  const { accounts, identities, events, more, request_accounts } = answer;
  return [
    el("h2", {}, summary(answer)),
    more && el("p", { class: "warning" }, "There may be more: the search was not complete. Search again in a moment, or by something else."),
    request_accounts > 1 && el("p", { class: "warning" },
      `The events of this request touch ${request_accounts} accounts. A client chooses the id of a request, so it proves no ownership.`),
    accounts.length > 0 && el("ul", { class: "rows", "aria-label": "Accounts" }, ...accounts.map((each) => accountRow(context, each))),
    identities.length > 0 && el("h2", {}, "Identities"),
    identities.length > 0 && el("ul", { class: "rows", "aria-label": "Identities" },
      ...identities.map((each) => identityRow(context, each))),
    events.length > 0 && el("h2", {}, "Events"),
    events.length > 0 && el("ul", { class: "rows", "aria-label": "Events" }, ...events.map((each) => eventRow(context, each))),
  ].filter(Boolean);
}

function accountRow(context, account) {
  const isUnverified = account.matched_by?.every((code) => code.startsWith("unverified"));
  return el("li", {}, el("ul", { class: "facts" },
    el("li", {}, context.link(`accounts/${account.id}`, id(account.id))),
    el("li", {}, el("span", { class: `chip ${account.state === "live" ? "good" : "warn"}` }, states[account.state] ?? account.state)),
    el("li", {}, account.linked_providers?.length ? list(account.linked_providers) : "no identity"),
    account.absorbed?.length > 0 && el("li", {}, `absorbed ${account.absorbed.length}`),
    account.merged_into && el("li", {}, "into ", context.link(`accounts/${account.merged_into}`, id(account.merged_into))),
    el("li", { class: isUnverified ? "warning" : "quiet" }, `found ${list(how([account]))}`)));
}

function identityRow(context, identity) {
  const verified = { true: "e-mail verified", false: "e-mail NOT verified" }[String(identity.email_verified)];
  return el("li", {}, el("ul", { class: "facts" },
    el("li", {}, el("b", {}, identity.provider)),
    el("li", {}, context.link(`identities/${identity.identity_id}`, id(identity.identity_id))),
    el("li", {}, identity.linked ? "linked" : "not linked"),
    identity.account && el("li", {}, identity.linked ? "to " : "last to ", context.link(`accounts/${identity.account}`, id(identity.account))),
    verified && el("li", { class: identity.email_verified ? "quiet" : "warning" }, verified),
    identity.matched_by && el("li", { class: "quiet" }, `found ${list(how([identity]))}`)));
}

function eventRow(context, event) {
  const key = event.event_id ?? event.id;
  return el("li", {}, el("ul", { class: "facts" },
    el("li", {}, context.link(`events/${key}`, id(key))),
    event.type && el("li", {}, event.type), event.position && el("li", { class: "quiet" }, `#${event.position}`)));
}
