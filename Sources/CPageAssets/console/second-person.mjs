// Changes by two persons: the first one hands over a request as an address, at which the second one confirms it.

import { Refused } from "../lib/api.mjs";
import { el } from "../lib/el.mjs";
import { copy, id, time } from "./format.mjs";

/** How long a request can be confirmed. */
export const requestSeconds = 3_600;

/** The time some seconds after another one, as a text of the API. */
export function later(seconds, since = Date.now()) {
  return new Date(since + seconds * 1000).toISOString();
}

/** A person of the staff, `staff:ID`, or an API key, `api_key:ID`, at the beginning of a sentence. */
export function principalWords(principal) {
  const [kind, name] = principal.split(":");
  return [kind === "staff" ? "The person " : "The API key ", id(name)];
}

/**
 * That another person confirms a merge or its undoing.
 *
 * @param {string} because the sentence with the reason
 * @param {string} what
 * @param {string | undefined} asker the person whose request would be confirmed
 */
export function needsTwo(because, what, asker) {
  return el("p", { class: "warning" }, `${because} `, ...asker
    ? [...principalWords(asker), ` asked for ${what}, and you confirm it.`]
    : [`You only ask for ${what}, which another person has to confirm within the hour.`]);
}

/**
 * Distinguishes the refusal of a request that is no longer valid from that of a merge.
 *
 * @param {Promise<any>} call
 * @param {"UNDO_REQUEST_CHANGED" | "MERGE_REQUEST_CHANGED" | "CONFIRM_REQUEST_CHANGED"} code
 */
export async function ofRequest(call, code) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refused && error.code === "MERGE_PLAN_CHANGED") error.code = code;
    throw error;
  }
}

/**
 * The request in what a person was given: its address in the console, or the request itself.
 *
 * @param {string} text
 */
export function requestOf(text) {
  const [address, query] = text.trim().split("?");
  return query === undefined ? address : new URLSearchParams(query).get("request") ?? "";
}

/** A fault of what a person was given; an empty text without one. */
export function requestFault(text) {
  return /^(staff|api_key):[0-9a-f-]{36}\.[\w-]{1,200}$/.test(requestOf(text)) ? ""
    : "This is neither a request nor its address. Copy it as a whole";
}

/** The way from a plan of support to its confirmation, where the tenant has two persons; null elsewhere. */
export function confirmLink(context, view) {
  return context.api.session.support_needs_two ? context.link(`${view}&request=`, "Confirm now") : null;
}

/**
 * The address at which another person confirms a request.
 *
 * @param {any} context
 * @param {string} path of the view, with the request
 * @param {{until: string, text: string}} words `text` says what the address is for
 */
export function handOver(context, path, { until, text }) {
  const link = context.link(path, "Confirmation by another person");
  const button = el("button", { type: "button" }, "Copy the address");
  button.addEventListener("click", async () => {
    context.say(await copy(link.href) ? "The address was copied." : "The browser did not permit it. Copy the address of the link.");
  });
  return [
    el("p", {}, `${text} Give this address to another person of support, who can confirm until `, time(until), "."),
    el("p", {}, link),
    el("p", {}, button),
  ];
}
