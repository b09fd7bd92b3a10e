// Unlinks and removals of second factors that support plans for a holder: the plan, its stop, and the confirmation by a
// second person, at once.

import { Refused } from "../lib/api.mjs";
import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { caseField, reasonField, reasonHeader } from "./dialogs.mjs";
import { id, time } from "./format.mjs";
import { doneHeading, once, steps } from "./repair-steps.mjs";
import { repairSentence } from "./repair-words.mjs";
import {
  confirmLink, handOver, later, ofRequest, principalWords, requestFault, requestOf, requestSeconds,
} from "./second-person.mjs";

/** The kinds of plans: the API's names, and the console's words. */
export const kinds = {
  unlink: {
    type: "ProviderUnlinkPlanned", member: "identity", act: "unlink", due: "unlink_due", verb: "is unlinked",
    stops: ".", plan: "Plan the unlink", planned: "The unlink is planned", keep: "Keep the identity", stopped: "The unlink was stopped",
    confirm: "Confirm and unlink now", done: "The identity was unlinked",
  },
  removal: {
    type: "SecondFactorRemovalPlanned", member: "factor", act: "removal", due: "removal_due", verb: "is removed",
    stops: ", and so does a sign-in with the factor.", plan: "Plan the removal", planned: "The removal is planned", keep: "Keep the factor", stopped: "The removal was stopped",
    confirm: "Confirm and remove now", done: "The second factor was removed",
  },
};

const changed = "CONFIRM_REQUEST_CHANGED";
const rowsMax = 1_000;
/** The hours, at most, from a plan to the time of its end. */
export const planHoursMax = 168;

/** That a request can no longer be confirmed, where an address has one. */
export function endedRequest(context) {
  return context.query.has("request") && el("p", { class: "warning" }, repairSentence({ code: changed }));
}

/**
 * @typedef {{
 *   kind: typeof kinds.unlink, account: string, id: string, due?: string, view: string, path: string,
 *   name: () => (Node | string)[], purpose: string, effects: (plan: any) => (Node | null | false)[],
 * }} Thing an identity or a factor: the address of its `view`, its `path` in the API, and the time of its planned end
 */

/**
 * The view of an identity or a factor: its plan, or of one that was planned the stop or a second person's confirmation.
 *
 * @param {any} context
 * @param {Thing} thing
 */
export function showPlan(context, thing) {
  if (context.query.has("request")) return confirm(context, thing);
  return thing.due ? stop(context, thing) : plan(context, thing);
}

/**
 * The event of a plan; null without one, and for a plan of the command line, which names no person. However many events
 * follow it, it is found: the account's are read back to the time before which no plan could have been made.
 *
 * @param {any} api
 * @param {Pick<Thing, "kind" | "account" | "id" | "due">} thing
 */
export async function planEvent(api, { kind, account, id: thing, due }) {
  const earliest = Date.parse(due ?? "") - planHoursMax * 3_600_000;
  for (let before = ""; ;) {
    const query = new URLSearchParams({ order: "newest", limit: String(rowsMax), ...(before && { before }) });
    const { rows, more, next } = await api.call("GET", `v1/accounts/${account}/timeline?${query}`);
    for (const row of rows) {
      if (Date.parse(row.recorded_at) < earliest) return null;
      if (row.type !== kind.type) continue;
      const event = await api.call("GET", `v1/events/${row.event_id}`);
      const { details, actor } = event.entry ?? {};
      if (details?.[kind.member] === thing && details.due === due) return actor.type === "system" ? null : event;
    }
    if (!more) return null;
    before = next;
  }
}

/**
 * @param {any} context
 * @param {{account: string}} thing
 * @param {string | Node} text
 */
function accountLink(context, { account }, text = id(account)) {
  return context.link(`accounts/${account}`, text);
}

function plan(context, thing) {
  const { kind } = thing;
  const { nodes } = steps(context, {
    submit: kind.plan,
    preview: (reason) => context.api.call("POST", `${thing.path}/${kind.act}/preview`, undefined, { headers: reason }),
    describe: (made) => [
      ...thing.effects(made),
      el("p", {}, "Planned for ", time(made[kind.due]), `. Until then the account's holder or support can stop it${kind.stops}`),
      el("p", {}, "The addresses of the account are told at once. Of an account without a confirmed address, reach the holder in another way first."),
      context.api.session.support_needs_two && el("p", {},
        "Once it is planned, you get an address by which another person of support can do it at once."),
    ],
    act: (_, reason, typed) => context.api.call("POST", `${thing.path}/${kind.act}`, { case: typed.case }, { headers: reason }),
    done: ({ [kind.due]: due, confirm_request: request }) => {
      context.say(`${kind.planned}.`);
      return [
        doneHeading(kind.planned),
        el("p", {}, ...thing.name(), ` ${kind.verb} at `, time(due), ", unless it is stopped. ", accountLink(context, thing, "Open the account")),
        ...request ? handOver(context, `${thing.view}&${new URLSearchParams({ request })}`,
          { until: later(requestSeconds), text: "It can also be done at once, by two persons." }) : [],
      ];
    },
  });
  return [
    el("p", {}, "For the holder of account ", accountLink(context, thing), `${thing.purpose} `, ...thing.name(),
      ` ${kind.verb} once the holder has had time to stop it.`),
    ...nodes,
  ];
}

function stop(context, thing) {
  const { kind } = thing;
  const reason = reasonField();
  const reference = caseField();
  const area = el("div", {});
  area.append(form({
    fields: [reason, reference], submit: kind.keep, missing: "This is missing.",
    onsubmit: (button) => once(context, button, async () => {
      await context.api.call("POST", `${thing.path}/keep`, { case: reference.value.trim() }, { headers: reasonHeader(reason.value) });
      context.say(`${kind.stopped}.`);
      area.replaceChildren(...ended(context, thing, kind.stopped));
      area.querySelector("h2")?.focus();
    }),
  }));
  const link = confirmLink(context, thing.view);
  return [
    el("p", {}, ...plannedWords(context, thing), ", as support planned."),
    link && el("p", {}, link, ", with the request of the person who planned it."),
    area,
  ];
}

function plannedWords(context, thing) {
  return [...thing.name(), " of account ", accountLink(context, thing), ` ${thing.kind.verb} at `, time(thing.due)];
}

function ended(context, thing, text) {
  return [doneHeading(text), el("p", {}, accountLink(context, thing, "Open the account"))];
}

/** The second person reads who planned it and why, and does it at once. */
async function confirm(context, thing) {
  const { kind } = thing;
  const { api, staff } = context;
  const planned = thing.due ? await planEvent(api, thing) : null;
  if (!planned) return [endedRequest(context), el("p", {}, context.link(thing.view, "Open it without the request"))];
  const { actor, recorded_at: since } = planned.entry;
  const asker = `${actor.type}:${actor.id}`;
  const stopLink = el("p", {}, context.link(thing.view, kind.keep), " instead.");
  const words = el("p", {}, ...plannedWords(context, thing), ". ", ...principalWords(asker), " planned it at ", time(since),
    ", and another person can confirm it until ", time(later(requestSeconds, Date.parse(since))), ".");
  // The ledger would refuse it, after everything was typed.
  if (asker === `staff:${staff.id}`) {
    return [words, el("p", { class: "warning" }, repairSentence({ code: "SECOND_PERSON_REQUIRED" })), stopLink];
  }
  const handed = context.query.get("request");
  const typed = field("Request", { autocomplete: "off" }, "The address, or the request itself, from the person who planned it.", requestFault);
  const { nodes } = steps(context, {
    submit: kind.confirm, fields: handed ? [] : [typed],
    preview: async (reason) => {
      const made = await api.call("POST", `${thing.path}/${kind.act}/preview`, undefined, { headers: reason });
      // Meanwhile it was stopped, and perhaps planned again.
      if (made[kind.due] !== thing.due) throw new Refused({ status: 409, code: changed });
      const { disclosures } = await api.call("GET", `v1/events/${planned.event_id}?disclose=true`, undefined, { headers: reason });
      return { ...made, disclosures };
    },
    describe: (made) => [
      el("p", {}, "Reason of the plan: ", el("span", { class: "personal" }, made.disclosures?.reason ?? "erased"), "; case: ",
        el("span", { class: "personal" }, made.disclosures?.case_reference ?? "erased")),
      ...thing.effects(made),
      el("p", { class: "warning" }, "Confirmed, it happens at once: the holder has no time left to stop it."),
    ],
    act: (_, reason, { case: reference }) => ofRequest(api.call("POST", `${thing.path}/${kind.act}`,
      { case: reference, confirm_request: requestOf(handed || typed.value) }, { headers: reason }), changed),
    check: () => Boolean(handed) || typed.accepts(),
    done: () => {
      context.say(`${kind.done}.`);
      for (const node of [words, stopLink]) node.remove();
      return ended(context, thing, kind.done);
    },
  });
  return [words, stopLink, ...nodes];
}
