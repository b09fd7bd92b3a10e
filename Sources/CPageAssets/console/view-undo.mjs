// Undoing a merge: what each of the two accounts gets back, and the confirmation of another person's request.

import { el } from "../lib/el.mjs";
import { doneHeading, identityList, steps } from "./repair-steps.mjs";
import { id, shortID, time } from "./format.mjs";
import { handOver, later, needsTwo, ofRequest } from "./second-person.mjs";

/** @param {any} context */
export async function show(context) {
  const merge = context.query.get("merge") ?? "";
  const request = context.query.get("request") || undefined;
  const path = `v1/merges/${encodeURIComponent(merge)}/undo`;
  const { entry } = await context.api.call("GET", `v1/events/${encodeURIComponent(merge)}`);
  if (entry.type !== "AccountsMerged") return [el("p", {}, "This event is not a merge.")];
  const [survivor, absorbed] = entry.accounts.map((account) => account.id);
  const send = (below, body, options) => ofRequest(context.api.call("POST", path + below, body, options), "UNDO_REQUEST_CHANGED");
  const { nodes } = steps(context, {
    submit: request ? "Confirm and undo the merge" : "Undo the merge",
    preview: (reason) => send("/preview", request && { undo_request: request }, { headers: reason }),
    describe: ({ accounts, needs_two: two, asked_by: asker }) => [
      two && needsTwo("The account that stayed has a second factor.", "the undoing", asker),
      ...accounts.map((account) => el("div", {},
        el("h3", {}, account.user_id === absorbed ? "The account that was absorbed " : "The account that stayed ", shortID(account.user_id)),
        identityList("Gets back", account.given_back),
        account.factors.length > 0 && el("p", {}, "Gets its second factors back: ", ...account.factors.flatMap((factor) => [id(factor), " "])),
        el("p", {}, `Afterwards it is signed in to by ${account.linked_providers.join(", ")}.`))),
      el("p", {}, "Sessions opened with an identity that is given back end."),
    ],
    act: (_, reason, typed) => send("", { case: typed.case, undo_request: request }, { headers: reason, isRepeatable: true }),
    done: ({ accounts, undo_request: asked, expires_in: seconds }) => {
      if (asked) {
        context.say("Asked for. Another person has to confirm.");
        return [
          doneHeading("Asked for; another person has to confirm"),
          ...handOver(context, `accounts/${survivor}/undo?${new URLSearchParams({ merge, request: asked })}`,
            { until: later(seconds), text: "Nothing was changed." }),
        ];
      }
      context.say("The merge was undone.");
      return [
        doneHeading("The merge was undone"),
        el("ul", { class: "rows", "aria-label": "The two accounts" }, ...accounts.map((account) => el("li", {},
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
