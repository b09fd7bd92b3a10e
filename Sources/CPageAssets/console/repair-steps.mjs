// The steps of every repair: a reason, a preview that changes nothing, and the change with its case.

import { el } from "../lib/el.mjs";
import { form } from "../lib/form.mjs";
import { Refused } from "../lib/api.mjs";
import { repairSentence } from "./repair-words.mjs";
import { refusalSentence } from "./words.mjs";
import { caseField, reasonField, reasonHeader } from "./dialogs.mjs";
import { id, time } from "./format.mjs";

/** The texts from before the view was opened again, as by Swap or a new sign-in. */
let carried = { key: "", reason: "", case: "" };

/** Keeps what was typed for the next view of a key. */
export function carry(key, typed) {
  carried = { case: "", ...typed, key };
}

/** The texts that were kept for a key; only once. */
export function takeCarried(key) {
  const typed = carried.key === key ? carried : { reason: "", case: "" };
  carried = { key: "", reason: "", case: "" };
  return typed;
}

/**
 * The address of another sign-in, which leads back to a view.
 *
 * @param {string} root
 * @param {string} here
 */
export function signInAgain(root, here) {
  const [to] = here.slice(`${root}console/`.length).split("#");
  return `${root}console/sign-in?${new URLSearchParams({ fresh: "1", to })}`;
}

/**
 * Announces why something was refused.
 *
 * @param {any} context
 * @param {Error} error
 * @param {() => void} [leave] called when the person follows the way to another sign-in
 */
export function explain(context, error, leave) {
  if (!(error instanceof Refused)) {
    context.warn("This page failed. Reload it.");
    throw error;
  }
  // The frame says that the session is over.
  if (error.status === 401) return;
  const survivor = error.code === "ACCOUNT_MERGED" && error.details.merged_into;
  if (survivor) {
    context.warn("The account was merged into another one. Nothing was changed.",
      el("p", {}, context.link(`accounts/${survivor}`, "Open the account that stays")));
    return;
  }
  if (error.code === "REAUTHENTICATION_REQUIRED") {
    const address = signInAgain(context.root, location.href);
    context.warn("You signed in a while ago. Sign in again to go on; nothing was changed.",
      el("p", {}, el("a", { href: address, onclick: leave }, "Sign in again")));
    return;
  }
  const request = error.requestId && el("p", { class: "quiet" }, `Request ${error.requestId}`);
  context.warn(repairSentence(error) ?? refusalSentence(error), ...(request ? [request] : []));
}

/**
 * Runs an action once at a time for a button, and explains its refusal.
 *
 * @param {any} context
 * @param {HTMLElement} button
 * @param {() => Promise<void>} action
 * @param {() => void} [leave] called when the person follows the way to another sign-in
 */
export async function once(context, button, action, leave) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  context.warn("");
  try {
    await action();
  } catch (error) {
    context.say("");
    explain(context, error, leave);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/**
 * The forms of a repair.
 *
 * @param {any} context
 * @param {{
 *   submit: string, typed?: {reason: string, case: string}, fields?: import("../lib/form.mjs").Field[],
 *   preview: (reason: object) => Promise<any>,
 *   describe: (plan: any, again: (focus: string) => Promise<void>) => (Node | null | false)[],
 *   act: ((plan: any, reason: object, typed: {reason: string, case: string}) => Promise<any>) | null,
 *   done: (answer: any) => Node[], changed?: string, hasCase?: boolean, confirm?: () => import("../lib/form.mjs").Field[],
 *   mayAct?: (plan: any) => boolean, check?: (fields: import("../lib/form.mjs").Field[]) => boolean,
 *   leave?: () => void,
 * }} parts `changed` is the code that asks for a new preview
 */
export function steps(context, parts) {
  const typed = parts.typed ?? { reason: "", case: "" };
  const reason = reasonField(typed.reason);
  const reference = caseField(typed.case);
  const area = el("div", {});
  const words = () => ({ reason: reason.value.trim(), case: reference.value.trim() });
  /** Previews another choice: meanwhile nothing is confirmed, and a failure leaves the former preview. */
  const again = async (/** @type {string} */ focus) => {
    const buttons = area.querySelectorAll("form button");
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
    try {
      await show();
      /** @type {HTMLElement | null} */ (area.querySelector(focus))?.focus();
    } finally {
      for (const button of buttons) button.removeAttribute("aria-disabled");
    }
  };
  const first = form({
    fields: [reason, ...(parts.fields ?? [])], submit: "Preview", missing: "This is missing.",
    onsubmit: (button) => once(context, button, async () => {
      await show();
      context.say("This is a preview. Nothing was changed.");
    }),
  });

  async function show() {
    const plan = await parts.preview(reasonHeader(reason.value));
    const heading = el("h2", { tabindex: "-1" }, "What will happen");
    area.replaceChildren(heading, ...nodes(parts.describe(plan, again)), ...expiry(plan));
    if (!parts.mayAct || parts.mayAct(plan)) area.append(confirmation(plan));
    heading.focus();
  }

  function confirmation(plan) {
    const more = parts.confirm?.() ?? [];
    const fields = parts.hasCase === false ? more : [reference, ...more];
    return form({
      fields, submit: parts.submit, missing: "This is missing.",
      onsubmit: (button) => {
        if (reason.accepts() && (!parts.check || parts.check(more))) once(context, button, () => act(plan), parts.leave);
      },
    });
  }

  async function act(plan) {
    try {
      const answer = await parts.act?.(plan, reasonHeader(reason.value), words());
      document.dispatchEvent(new Event("console-changed"));
      first.remove();
      const result = parts.done(answer);
      area.replaceChildren(...result);
      area.querySelector("h2")?.focus();
    } catch (error) {
      if (!(error instanceof Refused && error.code === parts.changed)) throw error;
      // Reason and case stay as they were typed.
      await show();
      throw error;
    }
  }
  return { nodes: [first, area], words };
}

/** The heading of a repair that was done; it gets the focus. */
export function doneHeading(text) {
  return el("h2", { tabindex: "-1" }, text);
}

function expiry(plan) {
  if (!plan?.expires_in) return [];
  return [el("p", { class: "quiet" }, "The preview is valid until ",
    time(new Date(Date.now() + plan.expires_in * 1000).toISOString()), ".")];
}

/**
 * A list of identities.
 *
 * @param {string} label
 * @param {any[]} identities
 * @param {(identity: any) => (Node | string)[]} [more]
 */
export function identityList(label, identities, more = () => []) {
  if (identities.length === 0) return el("p", {}, `${label}: none`);
  const name = el("h3", {}, label);
  return el("div", {}, name, el("ul", { class: "rows", "aria-label": label }, ...identities.map((identity) => el("li", {},
    el("b", {}, identity.provider), " ", id(identity.identity_id),
    ...(identity.linked_at ? [" linked ", time(identity.linked_at)] : []), ...more(identity)))));
}

/** @param {(Node | null | false | undefined)[]} list */
function nodes(list) {
  return /** @type {Node[]} */ (list.filter(Boolean));
}
