// Undoing an unlink: an identity is linked again to the account from which it was unlinked.

import { el } from "../lib/el.mjs";
import { doneHeading, identityList, steps } from "./repair-steps.mjs";
import { id } from "./format.mjs";

/** @param {any} context */
export async function show(context) {
  const { params, query } = context;
  const identity = query.get("identity");
  if (!identity) {
    return [el("p", {}, "Choose Link again at an unlink in the ", context.link(`accounts/${params.id}`, "timeline of the account"), ".")];
  }
  const path = `v1/accounts/${encodeURIComponent(params.id)}/identities/${encodeURIComponent(identity)}/relink`;
  const { nodes } = steps(context, {
    submit: "Link again",
    preview: (reason) => context.api.call("POST", `${path}/preview`, undefined, { headers: reason }),
    describe: (plan) => [
      identityList("Is linked again", [plan]),
      el("p", {}, `Afterwards the account is signed in to by ${plan.linked_providers.join(", ")}. Sessions that ended stay ended.`),
    ],
    act: (plan, reason, typed) => context.api.call("POST", path, { case: typed.case }, { headers: reason }),
    done: (answer) => {
      context.say("The identity was linked again.");
      return [
        doneHeading("The identity was linked again"),
        el("p", {}, context.link(`accounts/${answer.user_id}`, "Open the account"), ` It is signed in to by ${answer.linked_providers.join(", ")}.`),
      ];
    },
  });
  return [
    el("p", {}, "Identity ", id(identity), " is linked again to account ", context.link(`accounts/${params.id}`, id(params.id)),
      " from which it was unlinked last."),
    ...nodes,
  ];
}
