// Removing a second factor that its holder has lost: it is planned, and happens after some hours unless it is stopped.

import { el } from "../lib/el.mjs";
import { form } from "../lib/form.mjs";
import { caseField, reasonField, reasonHeader } from "./dialogs.mjs";
import { doneHeading, once, steps } from "./repair-steps.mjs";
import { id, time } from "./format.mjs";
import { factorKinds } from "./words.mjs";

/** @param {any} context */
export async function show(context) {
  const { params, query } = context;
  const account = await context.api.call("GET", `v1/accounts/${encodeURIComponent(params.id)}`);
  const asked = query.get("factor");
  const factor = (account.factors ?? []).find((each) => each.factor_id === asked && each.type !== "recovery_codes");
  if (!factor) return choice(context, account, asked);
  const path = `v1/accounts/${account.account}/factors/${factor.factor_id}`;
  return factor.removal_due ? stop(context, account, factor, path) : plan(context, account, factor, path);
}

const kindOf = (factor) => factorKinds[factor.type] ?? factor.type;

function choice(context, account, asked) {
  const factors = (account.factors ?? []).filter((each) => each.type !== "recovery_codes");
  return [
    asked && el("p", {}, "The account does not have this second factor now."),
    el("p", {}, factors.length ? "Choose the second factor that was lost." : "The account has no second factor."),
    factors.length > 0 && el("ul", { class: "rows", "aria-label": "Second factors of the account" }, ...factors.map((factor) => el("li", {},
      context.link(`accounts/${account.account}/factor?factor=${factor.factor_id}`, kindOf(factor)), " ", id(factor.factor_id),
      ...(factor.removal_due ? [" is removed at ", time(factor.removal_due)] : [])))),
  ];
}

function plan(context, account, factor, path) {
  const { nodes } = steps(context, {
    submit: "Plan the removal",
    preview: (reason) => context.api.call("POST", `${path}/removal/preview`, undefined, { headers: reason }),
    describe: (made) => [
      el("p", {}, "It happens at ", time(made.removal_due),
        ". Until then the account's holder or support can stop it, and so does a sign-in with the factor."),
      el("p", {}, made.keeps_factor ? "The account keeps another second factor."
        : "It is the account's last one: the recovery codes go with it, and the account is signed in to without a second factor."),
      el("p", {}, "The addresses of the account are told at once. Of an account without a confirmed address, reach the holder in another way first."),
    ],
    act: (_, reason, typed) => context.api.call("POST", `${path}/removal`, { case: typed.case }, { headers: reason }),
    done: (answer) => {
      context.say("The removal is planned.");
      return [
        doneHeading("The removal is planned"),
        el("p", {}, `${kindOf(answer)} is removed at `, time(answer.removal_due), ", unless it is stopped. ",
          context.link(`accounts/${answer.user_id}`, "Open the account")),
      ];
    },
  });
  return [
    el("p", {}, "For the holder of account ", context.link(`accounts/${account.account}`, id(account.account)), `, who has lost it: ${kindOf(factor)} `,
      id(factor.factor_id), " is removed once the holder has had time to stop it."),
    ...nodes,
  ];
}

function stop(context, account, factor, path) {
  const reason = reasonField();
  const reference = caseField();
  const area = el("div", {});
  area.append(form({
    fields: [reason, reference], submit: "Keep the factor", missing: "This is missing.",
    onsubmit: (button) => once(context, button, async () => {
      await context.api.call("POST", `${path}/keep`, { case: reference.value.trim() }, { headers: reasonHeader(reason.value) });
      context.say("The removal was stopped.");
      const heading = doneHeading("The removal was stopped");
      area.replaceChildren(heading, el("p", {}, context.link(`accounts/${account.account}`, "Open the account")));
      heading.focus();
    }),
  }));
  return [
    el("p", {}, `${kindOf(factor)} `, id(factor.factor_id), " of account ", context.link(`accounts/${account.account}`, id(account.account)),
      " is removed at ", time(factor.removal_due), ", as support planned."),
    area,
  ];
}
