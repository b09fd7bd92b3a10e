// Undoing a merge: what each of the two accounts gets back, and the confirmation of another person's request.

import { Refused } from "../lib/api.mjs";
import { el } from "../lib/el.mjs";
import { doneHeading, identityList, steps } from "./repair-steps.mjs";
import { copy, id, shortID, time } from "./format.mjs";

/** @param {any} context */
export async function show(context) {
  const merge = context.query.get("merge") ?? "";
  const request = context.query.get("request") || undefined;
  const path = `v1/merges/${encodeURIComponent(merge)}/undo`;
  const { entry } = await context.api.call("GET", `v1/events/${encodeURIComponent(merge)}`);
  if (entry.type !== "AccountsMerged") return [el("p", {}, "This event is not a merge.")];
  const [survivor, absorbed] = entry.accounts.map((account) => account.id);
  const { nodes } = steps(context, {
    submit: request ? "Confirm and undo the merge" : "Undo the merge",
    preview: (reason) => ofRequest(context.api.call("POST", `${path}/preview`, request && { undo_request: request }, { headers: reason })),
    describe: ({ accounts, needs_two: needsTwo, asked_by: asker }) => [
      needsTwo && el("p", { class: "warning" }, ...asker ? askedWords(asker)
        : ["The account that stayed has a second factor. You only ask for the undoing, which another person has to confirm within the hour."]),
      ...accounts.map((account) => el("div", {},
        el("h3", {}, account.user_id === absorbed ? "The account that was absorbed " : "The account that stayed ", shortID(account.user_id)),
        identityList("Gets back", account.given_back),
        el("p", {}, `Afterwards it is signed in to by ${account.linked_providers.join(", ")}.`))),
      el("p", {}, "Sessions opened with an identity that is given back end."),
    ],
    act: (_, reason, typed) => ofRequest(context.api.call("POST", path, { case: typed.case, undo_request: request },
      { headers: reason, isRepeatable: true })),
    done: ({ accounts, undo_request: asked, expires_in: seconds }) => {
      if (asked) return handOver(context, `accounts/${survivor}/undo?${new URLSearchParams({ merge, request: asked })}`, seconds);
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

/** Distinguishes the refusal of a request that is no longer valid from that of a merge. */
async function ofRequest(call) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refused && error.code === "MERGE_PLAN_CHANGED") error.code = "UNDO_REQUEST_CHANGED";
    throw error;
  }
}

/** Who asked for the undoing. */
function askedWords(asker) {
  const [kind, name] = asker.split(":");
  return ["The account that stayed has a second factor. ", kind === "staff" ? "The person " : "The API key ", id(name),
    " asked for the undoing, and you confirm it."];
}

/** The address at which another person confirms the undoing. */
function handOver(context, path, seconds) {
  context.say("Asked for. Another person has to confirm.");
  const link = context.link(path, "Confirmation by another person");
  const button = el("button", { type: "button" }, "Copy the address");
  button.addEventListener("click", async () => {
    context.say(await copy(link.href) ? "The address was copied." : "The browser did not permit it. Copy the address of the link.");
  });
  return [
    doneHeading("Asked for; another person has to confirm"),
    el("p", {}, "Nothing was changed. Give this address to another person of support, who can confirm until ",
      time(new Date(Date.now() + seconds * 1000).toISOString()), "."),
    el("p", {}, link),
    el("p", {}, button),
  ];
}
