// Removing a second factor that its holder has lost: it is planned, and happens after some hours unless it is stopped.

import { el } from "../lib/el.mjs";
import { id, time } from "./format.mjs";
import { endedRequest, kinds, showPlan } from "./support-plans.mjs";
import { factorKinds } from "./words.mjs";

/** @param {any} context */
export async function show(context) {
  const { params, query } = context;
  const { account, factors: all = [] } = await context.api.call("GET", `v1/accounts/${encodeURIComponent(params.id)}`);
  const factors = all.filter((each) => each.type !== "recovery_codes");
  const asked = query.get("factor");
  const view = (factor) => `accounts/${account}/factor?factor=${factor}`;
  const kindOf = ({ type }) => factorKinds[type] ?? type;
  const factor = factors.find((each) => each.factor_id === asked);
  if (!factor) {
    return [
      endedRequest(context),
      asked && el("p", {}, "The account does not have this second factor now."),
      el("p", {}, factors.length ? "Choose the second factor that was lost." : "The account has no second factor."),
      factors.length > 0 && el("ul", { class: "rows", "aria-label": "Second factors of the account" }, ...factors.map((each) => el("li", {},
        context.link(view(each.factor_id), kindOf(each)), " ", id(each.factor_id),
        ...(each.removal_due ? [" is removed at ", time(each.removal_due)] : [])))),
    ];
  }
  return showPlan(context, {
    kind: kinds.removal, account, id: asked, due: factor.removal_due, view: view(asked), path: `v1/accounts/${account}/factors/${asked}`,
    name: () => [`${kindOf(factor)} `, id(asked)], purpose: ", who has lost it:",
    effects: (made) => [
      el("p", {}, made.keeps_factor ? "The account keeps another second factor."
        : "It is the account's last one: the recovery codes go with it, and the account is signed in to without a second factor."),
    ],
  });
}
