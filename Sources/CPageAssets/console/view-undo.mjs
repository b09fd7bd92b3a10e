// Undoing a merge: what each of the two accounts gets back.

import { el } from "../lib/el.mjs";
import { doneHeading, identityList, steps } from "./repair-steps.mjs";
import { id, time } from "./format.mjs";

/** @param {any} context */
export async function show(context) {
  const merge = context.query.get("merge") ?? "";
  const path = `v1/merges/${encodeURIComponent(merge)}/undo`;
  const { entry } = await context.api.call("GET", `v1/events/${encodeURIComponent(merge)}`);
  if (entry.type !== "AccountsMerged") return [el("p", {}, "This event is not a merge.")];
  const [survivor, absorbed] = entry.accounts.map((account) => account.id);
  const { nodes } = steps(context, {
    submit: "Undo the merge",
    preview: (reason) => context.api.call("POST", `${path}/preview`, undefined, { headers: reason }),
    describe: ({ accounts }) => [
      ...accounts.map((account) => el("div", {},
        el("h3", {}, account.user_id === absorbed ? "The account that was absorbed " : "The account that stayed ", id(account.user_id)),
        identityList("Gets back", account.given_back),
        el("p", {}, `Afterwards it is signed in to by ${account.linked_providers.join(", ")}.`))),
      el("p", {}, "Sessions opened with an identity that is given back end."),
    ],
    act: (plan, reason, typed) => context.api.call("POST", path, { case: typed.case }, { headers: reason, isRepeatable: true }),
    done: ({ accounts }) => {
      context.say("The merge was undone.");
      return [
        doneHeading("The merge was undone"),
        el("ul", { "aria-label": "The two accounts" }, ...accounts.map((account) => el("li", {},
          context.link(`accounts/${account.user_id}`, id(account.user_id)), ` ${account.linked_providers.join(", ")}`))),
      ];
    },
  });
  return [
    el("p", {}, "At ", time(entry.recorded_at), " account ", context.link(`accounts/${survivor}`, id(survivor)), " absorbed ",
      id(absorbed), ". Undone, both are as before, each with its own identities."),
    ...nodes,
  ];
}
