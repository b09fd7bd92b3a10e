// Legal holds of an account: while it has one, an erasure is refused.

import { el } from "../lib/el.mjs";
import { ask } from "../lib/dialog.mjs";
import { form } from "../lib/form.mjs";
import { once, reasonField, reasonHeader } from "./repair-steps.mjs";
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
  const draw = async () => {
    const { legal_holds } = await context.api.call("GET", `v1/accounts/${account.account}`);
    list.replaceChildren(...holds(legal_holds.map((each) => (typeof each === "string" ? { hold: each } : each))));
  };
  const holds = (all) => {
    if (all.length === 0) return [el("p", {}, "The account has no legal hold.")];
    return [el("ul", { "aria-label": "Legal holds" }, ...all.map(holdRow))];
  };
  const holdRow = (each) => {
    const key = each.hold ?? each.hold_id ?? each.id;
    const button = el("button", { type: "button" }, "Lift legal hold");
    button.addEventListener("click", () => once(context, button, async () => {
      if (!reason.value.trim()) {
        reason.fault("Enter a reason.");
        return;
      }
      const isSure = await ask({
        title: "Lift the legal hold?", texts: ["Without another hold, the account can be erased."], confirm: "Lift", cancel: "Cancel",
      });
      if (!isSure) return;
      await context.api.call("DELETE", `${path}/${key}`, undefined, { headers: reasonHeader(reason.value) });
      await draw();
      reason.input.focus();
      context.say("The legal hold was lifted.");
    }));
    return el("li", {}, "Hold ", id(key), ...(each.set_at ?? each.recorded_at ? [" set ", time(each.set_at ?? each.recorded_at)] : []),
      ...(each.reason ? [` for: ${each.reason}`] : []), " ", button);
  };
  const setting = form({
    fields: [reason], submit: "Set legal hold", missing: "Enter a reason.",
    onsubmit: (button) => once(context, button, async () => {
      await context.api.call("PUT", `${path}/${hold}`, undefined, { headers: reasonHeader(reason.value), isRepeatable: true });
      hold = newID();
      await draw();
      context.say("The legal hold was set.");
    }),
  });
  list.append(...holds(account.legal_holds.map((each) => (typeof each === "string" ? { hold: each } : each))));
  return [
    el("p", {}, "Account ", context.link(`accounts/${account.account}`, id(account.account)),
      ". While it has a legal hold, neither it nor an account merged with it can be erased."),
    setting, list,
  ];
}

/** A UUID of version 7: the time, and random bits. */
function newID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint32(0, Math.floor(Date.now() / 0x10000));
  new DataView(bytes.buffer).setUint16(4, Date.now() % 0x10000);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
