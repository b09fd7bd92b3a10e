// Unlinking an identity for the account's holder: it is planned, and happens after some hours unless it is stopped.

import { el } from "../lib/el.mjs";
import { form } from "../lib/form.mjs";
import { caseField, reasonField, reasonHeader } from "./dialogs.mjs";
import { doneHeading, identityList, once, steps } from "./repair-steps.mjs";
import { id, time } from "./format.mjs";

/** @param {any} context */
export async function show(context) {
  const { params, query } = context;
  const account = await context.api.call("GET", `v1/accounts/${encodeURIComponent(params.id)}`);
  const asked = query.get("identity");
  const link = account.links.find((each) => each.identity_id === asked);
  if (!link) return choice(context, account, asked);
  const path = `v1/accounts/${account.account}/identities/${link.identity_id}`;
  return link.unlink_due ? stop(context, account, link, path) : plan(context, account, link, path);
}

function choice(context, account, asked) {
  return [
    asked && el("p", {}, "The account does not have this identity now."),
    el("p", {}, account.links.length ? "Choose the identity to unlink." : "The account has no identity."),
    el("ul", { class: "rows", "aria-label": "Identities of the account" }, ...account.links.map((link) => el("li", {},
      context.link(`accounts/${account.account}/unlink?identity=${link.identity_id}`, link.provider), " ", id(link.identity_id),
      ...(link.unlink_due ? [" is unlinked at ", time(link.unlink_due)] : [])))),
  ];
}

function plan(context, account, link, path) {
  const { nodes } = steps(context, {
    submit: "Plan the unlink",
    preview: (reason) => context.api.call("POST", `${path}/unlink/preview`, undefined, { headers: reason }),
    describe: (made) => [
      identityList("Is unlinked", [made]),
      el("p", {}, "It happens at ", time(made.unlink_due), ". Until then the account's holder or support can stop it."),
      el("p", {}, made.session_count === 1 ? "One session that it opened ends then." : `${made.session_count} sessions that it opened end then.`),
      el("p", {}, `Afterwards the account is signed in to by ${made.linked_providers.join(", ")}.`),
      el("p", {}, "The addresses of the account are told at once. Of an account without a confirmed address, reach the holder in another way first."),
    ],
    act: (_, reason, typed) => context.api.call("POST", `${path}/unlink`, { case: typed.case }, { headers: reason }),
    done: (answer) => {
      context.say("The unlink is planned.");
      return [
        doneHeading("The unlink is planned"),
        el("p", {}, answer.provider, " is unlinked at ", time(answer.unlink_due), ", unless it is stopped. ",
          context.link(`accounts/${answer.user_id}`, "Open the account")),
      ];
    },
  });
  return [
    el("p", {}, "For the holder of account ", context.link(`accounts/${account.account}`, id(account.account)), ", ", link.provider, " ",
      id(link.identity_id), " is unlinked once the holder has had time to stop it."),
    ...nodes,
  ];
}

function stop(context, account, link, path) {
  const reason = reasonField();
  const reference = caseField();
  const area = el("div", {});
  const forms = form({
    fields: [reason, reference], submit: "Keep the identity", missing: "This is missing.",
    onsubmit: (button) => once(context, button, async () => {
      await context.api.call("POST", `${path}/keep`, { case: reference.value.trim() }, { headers: reasonHeader(reason.value) });
      context.say("The unlink was stopped.");
      const heading = doneHeading("The unlink was stopped");
      area.replaceChildren(heading, el("p", {}, context.link(`accounts/${account.account}`, "Open the account")));
      heading.focus();
    }),
  });
  area.append(forms);
  return [
    el("p", {}, link.provider, " ", id(link.identity_id), " of account ", context.link(`accounts/${account.account}`, id(account.account)),
      " is unlinked at ", time(link.unlink_due), ", as support planned."),
    area,
  ];
}
