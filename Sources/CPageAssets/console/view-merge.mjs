// Merging two accounts: which one stays, what moves, what is left behind.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { carry, doneHeading, explain, identityList, steps, takeCarried } from "./repair-steps.mjs";
import { id } from "./format.mjs";

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
  /** @type {Record<string, string>} what stays of a provider that both have */
  let keep = {};
  const path = `v1/accounts/${stays.account}/merge`;
  const { nodes, words } = steps(context, {
    submit: "Merge accounts", typed: takeCarried(key), changed: "MERGE_PLAN_CHANGED",
    preview: (reason) => context.api.call("POST", `${path}/preview`, { absorb: goes.account, keep }, { headers: reason }),
    describe: (plan, again) => describe(context, plan, goes, async (provider, side) => {
      const former = keep;
      keep = { ...keep, [provider]: side };
      try {
        await again(`[name="keep-${CSS.escape(provider)}"]:checked`);
      } catch (error) {
        keep = former;
        throw error;
      }
    }),
    act: (plan, reason, typed) => context.api.call("POST", path,
      { absorb: goes.account, keep, plan_digest: plan.plan_digest, case: typed.case }, { headers: reason, isRepeatable: true }),
    done: (answer) => {
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
    el("p", {}, el("button", { type: "button", onclick: swap }, "Swap")),
    ...nodes,
  ];
}

function summary(context, account) {
  const providers = account.linked_providers.join(", ") || "no identity";
  return el("span", {}, context.link(`accounts/${account.account}`, id(account.account)),
    ` ${providers}, ${account.event_count} ${account.event_count === "1" ? "event" : "events"}`);
}

function describe(context, plan, goes, choose) {
  const mail = (identity) => [`, ${verified[identity.email_verified] ?? "e-mail verification not known"}`];
  const left = (identity) => [identity.of === "absorbed" ? ", of the absorbed account" : ", of the account that stays", ...mail(identity)];
  const isUnverified = plan.moved.some((identity) => identity.email_verified !== true);
  const sessions = goes.session_count === 1 ? "its session ends" : `its ${goes.session_count} sessions end`;
  return [
    identityList("Stays", plan.kept, mail),
    identityList("Moves to the account that stays", plan.moved, mail),
    identityList("Is left behind, without an account", plan.left_behind, left),
    ...plan.choices.map((choice) => choiceOf(context, choice, choose)),
    isUnverified && el("p", { class: "warning" },
      "An e-mail that is not verified may be that of any person, and is no reason to merge."),
    el("p", {}, `The absorbed account is signed out: ${sessions}.`,
      plan.sessions_end.opened_by.length > 0 && " Sessions that an identity which is left behind has opened end, too."),
    el("p", {}, `Afterwards the account is signed in to by ${plan.linked_providers.join(", ")}.`),
    el("p", {}, "The merge can be undone until an account is erased, an identity is unlinked or the account absorbs another one."),
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
