// Erasing a person: what is destroyed, what stays, and the id typed as a confirmation.

import { el } from "../lib/el.mjs";
import { field } from "../lib/form.mjs";
import { keptKey } from "./session.mjs";
import { askedNode, requestFor, withdrawButton } from "./erasure-request.mjs";
import { bases } from "./repair-words.mjs";
import { doneHeading, steps } from "./repair-steps.mjs";
import { id, shortID, time } from "./format.mjs";

/** @param {any} context */
export async function show(context) {
  const account = await context.api.call("GET", `v1/accounts/${encodeURIComponent(context.params.id)}`);
  if (account.status === "erased") return [el("p", {}, "The account was erased. Its history stays without the person.")];
  if (account.merged_into) {
    return [el("p", {}, "Account ", id(account.requested), " was merged into ",
      context.link(`accounts/${account.account}/erase`, "another account"), ", with which it can be erased.")];
  }
  const typed = takeTyped(context, account.account);
  const request = await requestFor(context, account.account);
  const page = el("div", {});
  const withdrawn = () => {
    const heading = doneHeading("The request was withdrawn");
    page.replaceChildren(heading, el("p", {}, "Nothing was erased."));
    heading.focus();
  };
  if (request?.yours) {
    page.append(
      el("p", { class: "warning" }, "Account ", context.link(`accounts/${account.account}`, id(account.account)),
        " is not erased yet: another administrator has to confirm it. The erasure was ", askedNode(request)),
      el("p", {}, withdrawButton(context, request, withdrawn)));
    return [page];
  }
  const basis = /** @type {HTMLSelectElement} */ (el("select", { id: "basis" }, ...Object.entries(bases).map(([value, text]) =>
    el("option", { value, selected: value === typed.basis }, text))));
  const path = `v1/accounts/${account.account}`;
  const { nodes, words } = steps(context, {
    submit: request ? "Confirm and erase account" : "Erase account", typed, changed: "ERASURE_PLAN_CHANGED", hasCase: false,
    preview: (reason) => context.api.call("POST", `${path}/erasure/preview`, undefined, { headers: reason }),
    describe: (plan) => describe(context, plan),
    mayAct: (plan) => plan.holds.length === 0,
    confirm: () => [field("Type the account's id to confirm", { autocomplete: "off", spellcheck: "false", maxlength: 36 })],
    check: ([confirmation]) => {
      const isRight = confirmation.value.trim() === account.account;
      confirmation.fault(isRight ? "" : `This is not the id of the account. It is ${account.account}.`);
      return isRight;
    },
    act: (plan, reason) => {
      if (request) {
        return context.api.call("POST", `${path}/erasure/requests/${request.request_id}/confirm`, { plan_digest: plan.plan_digest },
          { headers: reason, isRepeatable: true });
      }
      const query = new URLSearchParams({ basis: basis.value, plan_digest: plan.plan_digest });
      return context.api.call("DELETE", `${path}?${query}`, undefined, { headers: reason, isRepeatable: true });
    },
    leave: () => keepTyped(context, account.account, { ...words(), basis: basis.value }),
    done: ({ covers, request_id: asked, expires_at: end }) => {
      if (asked) {
        context.say("Asked for. Another administrator has to confirm.");
        return [
          doneHeading("Asked for; another administrator has to confirm"),
          el("p", {}, "Nothing was erased. It can be confirmed until ", time(end), ", on this page or under ",
            context.link("erasures", "Erasures"), "."),
        ];
      }
      context.say("The account was erased.");
      return [
        doneHeading("The account was erased"),
        el("ul", { class: "rows", "aria-label": "Erased accounts" }, ...covers.map((each) => el("li", {}, context.link(`accounts/${each}`, id(each))))),
        el("p", {}, "The history stays, without the person."),
      ];
    },
  });
  page.append(
    el("p", {}, "Account ", context.link(`accounts/${account.account}`, id(account.account)), " is erased for good: no undoing, no relink."),
    ...request ? [
      el("p", { class: "warning" }, "The erasure was ", askedNode(request)), el("p", {}, withdrawButton(context, request, withdrawn)),
    ] : [el("p", {}, el("label", { for: "basis" }, "Basis"), " ", basis)],
    ...nodes);
  return [page];
}

function describe(context, plan) {
  const identities = plan.linked_identities === 1 ? "one linked identity" : `${plan.linked_identities} linked identities`;
  const nodes = [
    el("h3", {}, "Accounts that are erased"),
    el("ul", { class: "rows", "aria-label": "Accounts that are erased" }, ...plan.covers.map((each) => el("li", {}, context.link(`accounts/${each}`, id(each)),
      each === plan.survivor && plan.covers.length > 1 ? " the account that stayed after the merges" : ""))),
    el("h3", {}, "Is destroyed"),
    el("ul", { class: "rows", "aria-label": "Is destroyed" }, el("li", {}, `E-mail addresses, phone numbers, provider ids, reasons and cases of ${plan.events} events`),
      el("li", {}, `${identities}: the person signs up again as a new account`), el("li", {}, "Sessions, passwords, passkeys and messages")),
    el("h3", {}, "Stays"),
    el("ul", { class: "rows", "aria-label": "Stays" }, el("li", {}, `${plan.events} events, without the person, and every proof of them`),
      el("li", {}, "The access log, with the reason of this erasure")),
  ];
  if (plan.holds.length === 0) return nodes;
  return [
    el("div", { class: "warning" }, el("p", {}, plan.holds.length === 1
      ? "A legal hold protects the account. Nothing can be erased until it is lifted."
      : `${plan.holds.length} legal holds protect the account. Nothing can be erased until they are lifted.`),
    ...plan.covers.map((each) => el("p", {}, context.link(`accounts/${each}/hold`, `Legal holds of ${shortID(each)}`)))),
    ...nodes,
  ];
}

/** Keeps reason and basis on the way to the identity provider and back. */
function keepTyped({ staff }, account, typed) {
  sessionStorage.setItem(keptKey, JSON.stringify({ account, staff: staff.id, ...typed }));
}

/** The texts from before a new sign-in of the same person; only once. */
function takeTyped({ staff }, account) {
  const kept = sessionStorage.getItem(keptKey);
  sessionStorage.removeItem(keptKey);
  const typed = kept ? JSON.parse(kept) : {};
  return typed.account === account && typed.staff === staff.id ? typed : { reason: "", case: "", basis: "data_subject_request" };
}
