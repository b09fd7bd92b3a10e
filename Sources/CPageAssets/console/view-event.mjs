// One event: its sentence and exact bytes, and its verification in this browser.

import { el } from "../lib/el.mjs";
import { Fault, fromBase64, fromDecimal, pathFromBase64 } from "../proof/bytes.mjs";
import { verifyEvent } from "../proof/event.mjs";
import { formatProof } from "../proof/tlog-proof.mjs";
import { accountLink, readEntry, sentenceOf } from "./event-rows.mjs";
import { copy, id, time } from "./format.mjs";
import { once } from "./repair-steps.mjs";
import { download } from "./save.mjs";
import { Trust } from "./trust.mjs";
import { actorWords } from "./words.mjs";
import { bytesDetails, checking, honesty, memorySentence, othersWarning, verdictRegion } from "./verdicts.mjs";

/** @param {any} context */
export async function show(context) {
  const wantedID = context.params.event;
  let answer;
  try {
    answer = await context.api.call("GET", `v1/events/${encodeURIComponent(wantedID)}`);
  } catch (error) {
    if (error.code !== "EVENT_NOT_FOUND") throw error;
    return [el("p", {}, "There is no event of this id."), el("p", {}, context.link("events", "All events"))];
  }
  const content = el("div", {}, ...contentOf(context, answer));
  const region = verdictRegion();
  const said = el("span", { role: "status", class: "quiet" });
  const verifyButton = el("button", { type: "button", class: "primary" }, "Verify in this browser");
  verifyButton.addEventListener("click", () => once(context, verifyButton, () => {
    region.busy("Verifying");
    return checking(region, "the key of the log", async () => {
      const remembered = new Trust(context).remembered();
      answer = await context.api.call("GET", `v1/events/${encodeURIComponent(wantedID)}`);
      content.replaceChildren(...contentOf(context, answer));
      await verify(context, { event: wantedID, answer, remembered }, region);
    });
  }));
  return [
    content,
    el("div", { class: "actions" }, verifyButton,
      el("button", { type: "button", onclick: async () => {
        said.textContent = "";
        said.textContent = await copy(textOf(answer)) ? "Copied" : "This browser does not permit copying.";
      } }, "Copy entry"),
      el("button", { type: "button", onclick: () => download(`${answer.position}.json`, [textOf(answer)]) }, "Download entry"),
      el("button", { type: "button", onclick: () => {
        said.textContent = saveProof(answer) ?? "";
      } }, "Download .tlog-proof"), said),
    ...region.nodes, honesty(),
  ];
}

/**
 * @param {any} context
 * @param {any} answer
 */
function contentOf(context, answer) {
  const { entry, fault } = readEntry(answer);
  if (!entry) return [el("p", { class: "warning" }, `The entry can't be read: ${fault}`), exact(answer)];
  const { actor, details, request } = entry.value;
  const sentence = `${sentenceOf(entry)}, ${actorWords(actor)}`;
  context.setTitle(`Event #${entry.position}`);
  const rows = [
    ["Position", `#${entry.position}`], ["Recorded", time(entry.recordedAt, "exact")],
    ["Type", `${entry.type}, version ${entry.version}`], ["Outcome", entry.outcome],
    ["Actor", el("span", {}, `${actor.type}${actor.role ? `, ${actor.role}` : ""} `, actor.id && id(actor.id))],
    ["Provider", typeof details.provider === "string" && details.provider],
    ["Accounts", entry.accounts.length > 0 && el("span", {}, ...entry.accounts.flatMap(({ id: account, seq }, index) => [
      index > 0 ? ", " : "", accountLink(context, account), `, number ${seq} in its history`]))],
    ["Request", request && context.link(`events?request=${request}`, request)],
    ["Event", id(entry.event)],
  ];
  return [
    el("p", { class: "sentence" }, `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`),
    el("dl", { class: "facts-list" }, ...rows.flatMap(([name, value]) => (value
      ? [el("dt", {}, String(name)), el("dd", {}, /** @type {any} */ (value))] : []))),
    el("details", { open: true }, el("summary", {}, "Entry as JSON"),
      el("pre", { tabindex: "0", "aria-label": "Entry as JSON" }, JSON.stringify(entry.value, null, 2))),
    exact(answer),
  ];
}

/** The exact bytes, as they are hashed. */
function exact(/** @type {any} */ answer) {
  const text = textOf(answer);
  return el("details", {}, el("summary", {}, `Exact bytes (${text.length})`),
    el("pre", { tabindex: "0", "aria-label": "Exact bytes" }, text));
}

/** @param {any} answer */
function textOf(answer) {
  try {
    return new TextDecoder().decode(fromBase64(answer.entry_base64));
  } catch {
    return "";
  }
}

/**
 * Saves the proof for other programs; returns why that is not possible.
 *
 * @param {any} answer
 */
function saveProof({ position, proof }) {
  if (!proof) return "There is no proof yet: no signed checkpoint covers this event.";
  try {
    const text = formatProof({ position: fromDecimal(proof.position), path: pathFromBase64(proof.path), note: String(proof.checkpoint?.note) });
    download(`${position}.tlog-proof`, [text]);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `The proof is malformed: ${error.message}`;
  }
}

/**
 * @param {any} context
 * @param {{event: string, answer: any, remembered: ReturnType<Trust["remembered"]>}} claim
 * @param {import("./verdicts.mjs").Region} region
 */
async function verify(context, { event, answer, remembered }, region) {
  const trust = new Trust(context);
  const stated = context.query.get("position") ?? "";
  const own = fromDecimal(answer.position);
  const asked = /^(0|[1-9]\d{0,17})$/.test(stated) ? fromDecimal(stated) : own;
  if (!answer.proof) {
    if (answer.no_proof === "NOT_SEALED_YET") {
      try {
        await trust.checkUnsealed(asked < own ? asked : own, remembered);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        region.bad("this browser's own record of the log", error);
        return;
      }
      region.busy("Not sealed yet: no signed checkpoint covers this event. Try again in some seconds.");
      return;
    }
    region.bad("the proof", new Fault("the server has none, because its stored data no longer proves this event"));
    return;
  }
  const { keys, isPinned } = await trust.keys();
  const { position, path, checkpoint: { note } = { note: null } } = answer.proof;
  const verdict = await verifyEvent({
    event, position: asked, entryBase64: answer.entry_base64, proof: { position, path, note }, keys,
  });
  const steps = el("ol", { "aria-label": "Steps" }, ...verdict.steps.map(({ name, isOk, bytes }) => el("li", {},
    `${isOk ? "✓" : "✗"} ${name}${isOk ? "" : ": does not hold"}`, bytesDetails("Details", bytes))));
  if (verdict.fault) {
    region.bad(`step ${verdict.steps.length}, ${verdict.steps[verdict.steps.length - 1]?.name}`, verdict.fault, [steps]);
    return;
  }
  const { checkpoint, signers = [] } = verdict;
  let seen;
  try {
    seen = await trust.observe(String(note), keys);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    region.bad("this browser's own record of the log", error, [steps]);
    return;
  }
  region.good([
    `Verified: this entry is #${verdict.position} of the ${checkpoint?.size} that ${checkpoint?.origin} signed. `,
    ...memorySentence(seen),
  ], [
    el("p", {}, `Signed by key ${signers.map(({ id: key }) => key).join(", ")}`, isPinned
      ? ", which you pasted." : ", which this server states. ",
    !isPinned && context.link("log", "Paste the key that you were given")),
    othersWarning(seen.others), steps,
  ]);
}
