// Disabling an account, enabling it, and signing it out everywhere.

import { el } from "../lib/el.mjs";
import { doneHeading, steps } from "./repair-steps.mjs";
import { id } from "./format.mjs";

const acts = {
  "disable": {
    intro: "A disabled account has no sessions and no sign-in until it is enabled. It keeps its identities.",
    submit: "Disable the account", done: "The account was disabled", same: "The account was disabled already",
    effects: ["Every session ends, and nothing signs in.", "Planned unlinks and removals of second factors wait.",
      "The confirmed addresses of the account are told."],
  },
  "enable": {
    intro: "An enabled account is signed in to as before it was disabled. Ended sessions stay ended.",
    submit: "Enable the account", done: "The account was enabled", same: "The account was enabled already",
    effects: ["Its identities sign in again.", "Planned unlinks and removals of second factors are stopped."],
  },
  "end-sessions": {
    intro: "The account is signed out on every device. Its holder signs in again.",
    submit: "End all sessions", done: "The sessions were ended", same: "The sessions were ended",
    effects: ["Every session ends. Codes that were sent are void.", "Services that check access tokens offline accept them until they expire."],
  },
};

/** @param {any} context `params.act` is the last segment of the address */
export async function show(context) {
  const { params } = context;
  const act = acts[params.act];
  const account = await context.api.call("GET", `v1/accounts/${encodeURIComponent(params.id)}`);
  const path = `v1/accounts/${account.account}/${params.act}`;
  const sessions = account.session_count === 1 ? "one session" : `${account.session_count} sessions`;
  const { nodes } = steps(context, {
    submit: act.submit,
    preview: (reason) => context.api.call("POST", `${path}/preview`, undefined, { headers: reason }),
    describe: ({ covers }) => [
      el("ul", { "aria-label": "Effects" }, ...act.effects.map((text) => el("li", {}, text))),
      covers.length > 1 && el("div", {}, el("h3", {}, "Concerns these accounts, which were merged"),
        el("ul", { "aria-label": "Accounts" }, ...covers.map((each) => el("li", {}, id(each))))),
    ],
    act: (plan, reason, typed) => context.api.call("POST", path, { case: typed.case }, { headers: reason }),
    done: (answer) => {
      const text = answer.event ? act.done : act.same;
      context.say(`${text}.`);
      return [doneHeading(text), el("p", {}, context.link(`accounts/${answer.user_id}`, "Open the account"))];
    },
  });
  return [
    el("p", {}, "Account ", context.link(`accounts/${account.account}`, id(account.account)),
      ` is ${account.status === "disabled" ? "disabled" : account.status}, has ${sessions}, and is signed in to by ${
        account.linked_providers.join(", ") || "nothing"}.`),
    el("p", {}, act.intro),
    ...nodes,
  ];
}
