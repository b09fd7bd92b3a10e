// Merging two accounts: which one stays, what moves, what is left behind.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { carry, doneHeading, explain, identityList, steps, takeCarried } from "./repair-steps.mjs";
import { id } from "./format.mjs";
import { handOver, later, needsTwo, ofRequest } from "./second-person.mjs";
import { factorKinds } from "./words.mjs";

const verified = { true: "e-mail verified", false: "e-mail NOT verified" };

/** @param {any} context */
export async function show(context) {
  const { params, query } = context;
  const absorb = query.get("absorb")?.trim();
  if (!absorb) return [intro(), askOther(context)];
  const read = (/** @type {string} */ account) => context.api.call("GET", `v1/accounts/${encodeURIComponent(account)}`);
  const [stays, goes] = await Promise.all([read(params.id), read(absorb)]);
  const merged = [stays, goes].find((account) => account.merged_into);
  if (merged) {
    return [el("p", {}, "Account ", id(merged.requested), " was merged into ",
      context.link(`accounts/${merged.merged_into}`, "another account"), " already.")];
  }
  if (stays.account === goes.account) return [el("p", {}, "Both ids are those of the same account."), askOther(context)];
  return mergeForms(context, stays, goes);
}

function intro() {
  return el("p", {}, "The account that stays gets the identities of the other one, whose id leads to it from then on. A preview changes nothing.");
}

function askOther(context) {
  const other = field("Id of the account that is absorbed", { autocomplete: "off", spellcheck: "false", maxlength: 36 });
  return form({
    fields: [other], submit: "Continue", missing: "Enter the id of an account.",
    onsubmit: () => context.go(`accounts/${context.params.id}/merge?absorb=${encodeURIComponent(other.value.trim())}`),
  });
}

function mergeForms(context, stays, goes) {
  const key = [stays.account, goes.account].sort().join();
  const request = context.query.get("request") || undefined;
  /** What stays of a provider that both have; a request is of one choice. */
  let keep = keepOf(context.query);
  const path = `v1/accounts/${stays.account}/merge`;
  const body = () => ({ absorb: goes.account, keep, merge_request: request });
  const { nodes, words } = steps(context, {
    submit: request ? "Confirm and merge accounts" : "Merge accounts", typed: takeCarried(key), changed: "MERGE_PLAN_CHANGED",
    preview: (reason) => {
      const plan = context.api.call("POST", `${path}/preview`, body(), { headers: reason });
      return request ? ofRequest(plan, "MERGE_REQUEST_CHANGED") : plan;
    },
    describe: (plan, again) => describe(plan, [stays, goes], !request && ((choice) => choiceOf(context, choice, async (provider, side) => {
      const former = keep;
      keep = { ...keep, [provider]: side };
      try {
        await again(`[name="keep-${CSS.escape(provider)}"]:checked`);
      } catch (error) {
        keep = former;
        throw error;
      }
    }))),
    act: (plan, reason, typed) => context.api.call("POST", path,
      { ...body(), plan_digest: plan.plan_digest, case: typed.case }, { headers: reason, isRepeatable: true }),
    done: (answer) => {
      if (answer.merge_request) {
        context.say("Asked for. Another person has to confirm.");
        return [
          doneHeading("Asked for; another person has to confirm"),
          ...handOver(context, requestView(stays.account, goes.account, keep, answer.merge_request),
            { until: later(answer.expires_in), text: "Nothing was merged." }),
        ];
      }
      context.say("The accounts were merged.");
      return [
        doneHeading("The accounts were merged"),
        el("p", {}, context.link(`accounts/${answer.user_id}`, "Open the account that stays"), ", ",
          context.link(`accounts/${answer.user_id}/undo?merge=${answer.merge}`, "undo the merge")),
      ];
    },
  });
  const swap = () => {
    carry(key, words());
    context.go(`accounts/${goes.account}/merge?absorb=${stays.account}`);
  };
  return [
    intro(),
    el("dl", { class: "pair" },
      el("dt", {}, "Stays"), el("dd", {}, summary(context, stays)),
      el("dt", {}, "Is absorbed"), el("dd", {}, summary(context, goes))),
    ...request ? [] : [el("p", {}, el("button", { type: "button", onclick: swap }, "Swap"))],
    ...nodes,
  ];
}

/**
 * The view in which another person confirms a merge, with the choices that belong to the request.
 *
 * @param {string} stays
 * @param {string} absorb
 * @param {Record<string, string>} keep
 * @param {string} request
 */
export function requestView(stays, absorb, keep, request) {
  const query = new URLSearchParams({ absorb, request });
  for (const [provider, side] of Object.entries(keep)) if (side === "absorbed") query.append("keep", provider);
  return `accounts/${stays}/merge?${query}`;
}

/**
 * The choices in an address: the providers of which the absorbed account's identity stays.
 *
 * @param {URLSearchParams} query
 * @returns {Record<string, string>}
 */
export function keepOf(query) {
  return Object.fromEntries(query.getAll("keep").map((provider) => [provider, "absorbed"]));
}

function summary(context, account) {
  const providers = account.linked_providers.join(", ") || "no identity";
  return el("span", {}, context.link(`accounts/${account.account}`, id(account.account)),
    ` ${providers}, ${account.event_count} ${account.event_count === "1" ? "event" : "events"}`);
}

/** The end of sessions of the account that stays; an empty text without one. */
export function endedSessions({ kept, sessions_end: { opened_by: openers } }) {
  if (openers.length === 0) return "";
  return kept.every((identity) => openers.includes(identity.identity_id)) ? " All sessions of the account that stays end, too."
    : " Sessions that an identity which is left behind has opened end, too.";
}

/**
 * The second factors after a merge, each with its kind where an account has it.
 *
 * @param {{factor_id: string, of: string}[]} factors
 * @param {any[]} accounts
 */
function factorList(factors, accounts) {
  if (factors.length === 0) return null;
  const kinds = new Map(accounts.flatMap((account) => account.factors ?? []).map((factor) => [factor.factor_id, factor.type]));
  const label = "Second factors afterwards";
  return el("div", {}, el("h3", {}, label), el("ul", { class: "rows", "aria-label": label }, ...factors.map((factor) => el("li", {},
    el("b", {}, factorKinds[kinds.get(factor.factor_id)] ?? "second factor"), " ", id(factor.factor_id),
    factor.of === "absorbed" ? ", of the absorbed account" : ", of the account that stays"))),
    el("p", {}, "Every sign-in needs one of them, or a recovery code of either account."));
}

function describe(plan, [stays, goes], choice) {
  const mail = (identity) => [`, ${verified[identity.email_verified] ?? "e-mail verification not known"}`];
  const left = (identity) => [identity.of === "absorbed" ? ", of the absorbed account" : ", of the account that stays", ...mail(identity)];
  const isUnverified = plan.moved.some((identity) => identity.email_verified !== true);
  const sessions = goes.session_count === 1 ? "its session ends" : `its ${goes.session_count} sessions end`;
  return [
    plan.needs_two && needsTwo("An account has a second factor.", "the merge", plan.asked_by),
    identityList("Stays", plan.kept, mail),
    identityList("Moves to the account that stays", plan.moved, mail),
    identityList("Is left behind, without an account", plan.left_behind, left),
    ...choice ? plan.choices.map(choice) : [],
    factorList(plan.factors, [stays, goes]),
    isUnverified && el("p", { class: "warning" },
      "An e-mail that is not verified may be that of any person, and is no reason to merge."),
    el("p", {}, `The absorbed account is signed out: ${sessions}.${endedSessions(plan)}`),
    el("p", {}, `Afterwards the account is signed in to by ${plan.linked_providers.join(", ")}.`),
    el("p", {}, "The merge can be undone until an account is erased, an identity is unlinked, a second factor that moves is removed or the account absorbs another one."),
  ];
}

function choiceOf(context, choice, choose) {
  const option = (/** @type {string} */ side, /** @type {string} */ text) => el("label", { class: "option" },
    el("input", {
      type: "radio", name: `keep-${choice.provider}`, value: side, checked: choice.keep === side,
      onchange: async (/** @type {Event} */ event) => {
        try {
          await choose(choice.provider, side);
          context.say("The preview has this choice now. Nothing was changed.");
        } catch (error) {
          const group = /** @type {HTMLElement} */ (event.target).closest("fieldset");
          for (const input of group?.querySelectorAll("input") ?? []) input.checked = input.value === choice.keep;
          explain(context, error);
        }
      },
    }), ` ${text}`);
  return el("fieldset", {}, el("legend", {}, `Which identity of ${choice.provider} stays?`),
    option("survivor", "That of the account that stays"), option("absorbed", "That of the absorbed account"));
}
