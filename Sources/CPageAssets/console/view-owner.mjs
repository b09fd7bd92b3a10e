// An identity: which account held it, and when.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { count, id, shortID, time } from "./format.mjs";
import { legend, partiesOf, strip } from "./picture.mjs";
import { eventTypes } from "./words.mjs";

/** @param {any} context */
export async function show(context) {
  const { params } = context;
  context.setTitle(`Identity ${shortID(params.id)}`);
  let answer;
  try {
    answer = await context.api.call("GET", `v1/identities/${encodeURIComponent(params.id)}/owners`);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error;
    return [el("p", {}, "No account has held an identity of this id. ", context.link("search", "Search for it"))];
  }
  const { owners, complete, examined, log_size } = answer;
  const held = heldBy(answer.identity_id, owners);
  const parties = partiesOf(held.lanes, owners[0].account);
  const now = owners.find((owner) => !owner.until);
  return [
    el("ul", { class: "facts" }, el("li", {}, "Identity ", id(answer.identity_id)),
      el("li", {}, now ? "held by " : "held by no account now", now && context.link(`accounts/${now.account}`, id(now.account))),
      el("li", {}, context.link(`events?identity=${answer.identity_id}`, "Events that name it"))),
    el("p", {}, complete ? `Exactly ${count(owners.length, "time")}, as the whole log says up to position ${Number(log_size) - 1}.`
      : `The log was read up to position ${Number(examined) - 1} of ${Number(log_size) - 1}: later ones are not shown.`),
    legend(context, parties),
    strip(`Identity ${shortID(params.id)}, held ${count(owners.length, "time")} by ${count(parties.length, "account")}`, held, parties),
    el("h2", {}, "Holders"),
    el("ol", { class: "rows", "aria-label": "Holders" }, ...owners.map((owner) => el("li", {},
      context.link(`accounts/${owner.account}`, id(owner.account)), " from ", ...moment(context, owner.from),
      ...owner.until ? [" until ", ...moment(context, owner.until)] : [" until now"]))),
  ];
}

function moment(context, { position, recorded_at, event_id, type }) {
  return [context.link(`events/${event_id}`, `#${position}`), `, ${(eventTypes[type] ?? type).toLowerCase()}, `, time(recorded_at)];
}

/**
 * The holders of an identity as the picture of one line.
 *
 * @param {string} identity
 * @param {any[]} owners
 */
export function heldBy(identity, owners) {
  const marks = new Map(owners.flatMap(({ from, until }) => [from, until].filter(Boolean)).map((mark) => [mark.position, mark]));
  const columns = [...marks.values()].sort((a, b) => (BigInt(a.position) < BigInt(b.position) ? -1 : 1));
  const column = (mark) => columns.findIndex(({ position }) => position === mark.position);
  return {
    columns,
    lanes: [{
      identity, provider: "identity", spans: owners.map(({ account, from, until }) => ({
        account, from: column(from), until: until ? column(until) : null, change: until?.type ?? "",
      })),
    }],
  };
}
