// One event as a row: what its exact bytes say, not the answer's rendering of them.

import { el } from "../lib/el.mjs";
import { Fault, fromBase64 } from "../proof/bytes.mjs";
import { parseEntry } from "../proof/entry.mjs";
import { shortID, time } from "./format.mjs";
import { actorWords, sentence } from "./words.mjs";

/**
 * Reads the bytes of an answer's event.
 *
 * @param {any} event
 * @returns {{entry: import("../proof/entry.mjs").Entry | null, fault: string | null}}
 */
export function readEntry(event) {
  try {
    return { entry: parseEntry(fromBase64(event.entry_base64)), fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { entry: null, fault: error.message };
  }
}

/**
 * @param {any} context
 * @param {any} event
 */
export function rowOf(context, event) {
  const { entry, fault } = readEntry(event);
  const address = `events/${event.event_id}?position=${event.position}`;
  if (!entry) return el("li", { class: "event" }, context.link(address, `#${event.position}`),
    el("span", { class: "warning" }, `This entry can't be read: ${fault}`));
  return el("li", { class: `event ${entry.outcome}` },
    context.link(address, `#${entry.position}`), time(entry.recordedAt),
    el("span", { class: "what" }, sentenceOf(entry)),
    el("span", { class: "quiet" }, `${entry.type}, ${entry.outcome}, ${actorWords(entry.value.actor)}`),
    entry.accounts.length > 0 && el("span", {}, "accounts ",
      ...entry.accounts.flatMap(({ id }, index) => [index > 0 ? ", " : "", accountLink(context, id)])));
}

/**
 * The sentence of an entry, without its subject.
 *
 * @param {import("../proof/entry.mjs").Entry} entry
 */
export function sentenceOf({ type, value }) {
  return sentence({ type, details: value.details });
}

/**
 * @param {any} context
 * @param {string} account
 */
export function accountLink(context, account) {
  const link = context.link(`accounts/${account}`, shortID(account));
  link.setAttribute("title", account);
  return link;
}
