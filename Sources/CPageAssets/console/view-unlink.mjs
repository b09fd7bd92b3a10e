// Unlinking an identity for the account's holder: it is planned, and happens after some hours unless it is stopped.

import { el } from "../lib/el.mjs";
import { identityList } from "./repair-steps.mjs";
import { id, time } from "./format.mjs";
import { endedRequest, kinds, showPlan } from "./support-plans.mjs";

/** @param {any} context */
export async function show(context) {
  const { params, query } = context;
  const { account, links } = await context.api.call("GET", `v1/accounts/${encodeURIComponent(params.id)}`);
  const asked = query.get("identity");
  const view = (identity) => `accounts/${account}/unlink?identity=${identity}`;
  const link = links.find((each) => each.identity_id === asked);
  if (!link) {
    return [
      endedRequest(context),
      asked && el("p", {}, "The account does not have this identity now."),
      el("p", {}, links.length ? "Choose the identity to unlink." : "The account has no identity."),
      el("ul", { class: "rows", "aria-label": "Identities of the account" }, ...links.map((each) => el("li", {},
        context.link(view(each.identity_id), each.provider), " ", id(each.identity_id),
        ...(each.unlink_due ? [" is unlinked at ", time(each.unlink_due)] : [])))),
    ];
  }
  return showPlan(context, {
    kind: kinds.unlink, account, id: asked, due: link.unlink_due, view: view(asked), path: `v1/accounts/${account}/identities/${asked}`,
    name: () => [link.provider, " ", id(asked)], purpose: ",",
    effects: (made) => [
      identityList("Is unlinked", [made]),
      el("p", {}, made.session_count === 1 ? "One session that it opened ends then." : `${made.session_count} sessions that it opened end then.`),
      el("p", {}, `Afterwards the account is signed in to by ${made.linked_providers.join(", ")}.`),
    ],
  });
}
