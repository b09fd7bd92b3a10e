// Legal holds of an account: while it has one, an erasure is refused.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { ask } from "../lib/dialog.mjs";
import { form } from "../lib/form.mjs";
import { reasonField, reasonHeader } from "./dialogs.mjs";
import { newID } from "./session.mjs";
import { once } from "./repair-steps.mjs";
import { id, time } from "./format.mjs";

/** @param {any} context */
export async function show(context) {
  const account = await context.api.call("GET", `v1/accounts/${encodeURIComponent(context.params.id)}`);
  const path = `v1/accounts/${account.account}/holds`;
  if (account.status === "erased") return [el("p", {}, "The account was erased. It gets no legal hold.")];
  /** One id for each hold that is asked for: a repetition after a lost answer sets no second one. */
  let hold = newID();
  const reason = reasonField();
  const list = el("div", {});
  /** Reads the list after a change, which was done also if it cannot be read. */
  const draw = async () => {
    try {
      list.replaceChildren(...holds((await context.api.call("GET", `v1/accounts/${account.account}`)).holds));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      list.replaceChildren(el("p", { class: "warning" }, "The legal holds cannot be read now. Reload the page to see them."));
    }
  };
  const holds = (all) => {
    if (all.length === 0) return [el("p", {}, "The account has no legal hold.")];
    return [el("ul", { class: "rows", "aria-label": "Legal holds" }, ...all.map(holdRow))];
  };
  const holdRow = (each) => {
    const button = el("button", { type: "button" }, "Lift legal hold");
    button.addEventListener("click", () => once(context, button, async () => {
      if (!reason.accepts()) return;
      const isSure = await ask({
        title: "Lift the legal hold?", texts: ["Without another hold, the account can be erased."], confirm: "Lift", cancel: "Cancel",
      });
      if (!isSure) return;
      await context.api.call("DELETE", `${path}/${each.hold}`, undefined, { headers: reasonHeader(reason.value) });
      context.say("The legal hold was lifted.");
      await draw();
      reason.input.focus();
    }));
    return el("li", {}, "Set ", time(each.set_at), ", ", context.link(`events/${each.event_id}`, `#${each.position}`), ", hold ",
      id(each.hold), " ", button);
  };
  const setting = form({
    fields: [reason], submit: "Set legal hold", missing: "Enter a reason.",
    onsubmit: (button) => once(context, button, async () => {
      await context.api.call("PUT", `${path}/${hold}`, undefined, { headers: reasonHeader(reason.value), isRepeatable: true });
      hold = newID();
      context.say("The legal hold was set.");
      await draw();
    }),
  });
  list.append(...holds(account.holds));
  return [
    el("p", {}, "Account ", context.link(`accounts/${account.account}`, id(account.account)),
      ". While it has a legal hold, neither it nor an account merged with it can be erased."),
    setting, list,
  ];
}
