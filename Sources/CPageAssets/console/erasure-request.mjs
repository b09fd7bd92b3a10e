// A request for an erasure: who asked, and its withdrawal.

import { el } from "../lib/el.mjs";
import { confirmWithReason, reasonHeader } from "./dialogs.mjs";
import { id, time } from "./format.mjs";
import { bases } from "./repair-words.mjs";
import { once } from "./repair-steps.mjs";

/** The request for an account; null without one, for roles that see none, and where one administrator erases. */
export async function requestFor(context, account) {
  if (context.staff.role !== "admin" || !context.api.session.erase_needs_two) return null;
  const { requests } = await context.api.call("GET", `v1/erasure-requests?${new URLSearchParams({ account })}`);
  return requests[0] ?? null;
}

/** Who asked for the erasure, why, and until when it can be confirmed. */
export function askedNode({ yours, asked_by: asker, asked_at: since, basis, reason, expires_at: end }) {
  const [kind, name] = asker.split(":");
  const who = yours ? ["you"] : [kind === "staff" ? "the administrator " : "the API key ", id(name)];
  return el("span", {}, "asked for by ", ...who, " ", time(since), ": ", bases[basis] ?? basis, "; reason: ",
    el("span", { class: "personal" }, reason), ". It can be confirmed until ", time(end), ".");
}

/**
 * The button that withdraws a request.
 *
 * @param {any} context
 * @param {any} request
 * @param {() => void} done
 */
export function withdrawButton(context, request, done) {
  const button = el("button", { type: "button" }, "Withdraw the request");
  button.addEventListener("click", () => once(context, button, async () => {
    const reason = await confirmWithReason({
      title: "Withdraw the request?", confirm: "Withdraw", texts: ["Nothing is erased. Any administrator may ask again."],
    });
    if (reason === null) return;
    await context.api.call("DELETE", `v1/accounts/${request.account}/erasure/requests/${request.request_id}`, undefined,
      { headers: reasonHeader(reason) });
    done();
    context.say("The request was withdrawn.");
  }));
  return button;
}
