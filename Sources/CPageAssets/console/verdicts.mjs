// What the checks in the browser say: "Verified", or an alert with the step, both values, and whom to tell.

import { el } from "../lib/el.mjs";
import { Fault } from "../proof/bytes.mjs";
import { time } from "./format.mjs";

/** @typedef {ReturnType<typeof verdictRegion>} Region */

/** A region for outcomes, which is in the page before it is filled. */
export function verdictRegion() {
  const status = el("div", { id: "verdict", role: "status", class: "status" });
  const alert = el("div", { id: "refusal", role: "alert", class: "alert", tabindex: "-1" });
  const details = el("div");
  const clear = () => {
    for (const node of [status, alert, details]) node.replaceChildren();
  };
  return {
    nodes: [status, alert, details],
    clear,
    /** @param {string} text */
    busy(text) {
      clear();
      status.textContent = text;
    },
    /**
     * @param {(Node | string)[]} sentence
     * @param {Node[]} [more]
     */
    good(sentence, more = []) {
      clear();
      status.append(...sentence);
      details.append(...more);
    },
    /**
     * @param {string} what
     * @param {Fault} fault
     * @param {Node[]} [more]
     */
    bad(what, fault, more = []) {
      clear();
      alert.append(...refusal(what, fault));
      details.replaceChildren(...more);
      alert.focus();
    },
  };
}

/**
 * The content of an alert.
 *
 * @param {string} what
 * @param {Fault} fault
 */
function refusal(what, fault) {
  const values = [["Expected", fault.expected], ["Found", fault.found]].filter(([, value]) => value !== null);
  return [
    el("p", {}, el("strong", {}, "Not verified: "), `${what}: ${fault.message}.`),
    el("dl", { class: "facts-list" }, ...values.flatMap(([name, value]) => [
      el("dt", {}, String(name)), el("dd", {}, el("code", {}, value)),
    ])),
    el("p", {}, "Do not rely on what is shown here. Keep this page or its proof, and tell your auditor and those who answer for the "
      + "ledger's security, by another way than this server."),
  ];
}

/** What a check in this page cannot show. */
export function honesty() {
  return el("p", { class: "quiet" }, "This check ran in code that this server sent. To be independent of it, paste the log's key as you were given "
    + "it, verify the .tlog-proof with another program, or open verify.html of a bundle from your disk.");
}

/**
 * Bytes behind "Details".
 *
 * @param {string} summary
 * @param {[string, string][]} bytes
 */
export function bytesDetails(summary, bytes) {
  return el("details", {}, el("summary", {}, summary), el("dl", { class: "facts-list" }, ...bytes.flatMap(([name, text]) => [
    el("dt", {}, name), el("dd", {}, el("code", { class: "bytes" }, text)),
  ])));
}

/**
 * The memory of the browser in a sentence.
 *
 * @param {{former: bigint | null, size: bigint, since: string, firstSize: string}} seen
 */
export function memorySentence({ former, size, since, firstSize }) {
  if (former === null) return [`This browser follows the log from now on, from size ${size}.`];
  const followed = ["This browser has followed the log since ", time(since, "day"), ` (size ${firstSize})`];
  if (former > size) return [...followed, `, and has seen it with ${former} events already: this answer is older, and its beginning.`];
  return [...followed, former === size ? ", and it is the one that it has seen." : `, and it continues the one of ${former} events.`];
}

/**
 * A warning about other keys or logs that this browser has followed here.
 *
 * @param {{vkey: string, since: string}[]} others
 */
export function othersWarning(others) {
  if (others.length === 0) return el("p");
  return el("p", { class: "warning" }, "This browser has followed the log of this address by another key: ",
    ...others.flatMap(({ vkey, since }) => [el("code", {}, vkey), " since ", time(since, "day"), ". "]),
    "A change of the key is announced; ask those who gave you the key.");
}

/**
 * Runs a check; faults of what was checked are told in a region, others are for the frame.
 *
 * @param {import("./verdicts.mjs").Region} region
 * @param {string} what
 * @param {() => Promise<void>} check
 */
export async function checking(region, what, check) {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof Fault)) {
      region.clear();
      throw error;
    }
    region.bad(what, error);
  }
}
