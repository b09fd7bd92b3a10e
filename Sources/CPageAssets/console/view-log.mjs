// The log: its key, its newest signed checkpoint, and this browser as its witness.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { Fault, need, toBase64 } from "../proof/bytes.mjs";
import { openCheckpoint, readCheckpoint } from "../proof/note.mjs";
import { compare } from "../proof/witness.mjs";
import { count, time } from "./format.mjs";
import { once } from "./repair-steps.mjs";
import { download } from "./save.mjs";
import { Trust } from "./trust.mjs";
import { bytesDetails, checking, honesty, memorySentence, othersWarning, verdictRegion } from "./verdicts.mjs";

const listed = 20;
const chainMax = 10;

/** @param {any} context */
export async function show(context) {
  const trust = new Trust(context);
  const region = verdictRegion();
  const newest = await newestOf(trust, region);
  if (newest === undefined) return [...region.nodes, honesty()];
  if (!newest) return [el("p", {}, "Nothing is signed yet. The first checkpoint follows some seconds after the first event.")];
  const body = el("div");
  /** The checkpoint that was remembered before this visit. @type {import("../proof/note.mjs").Checkpoint | null} */
  let former = null;

  const refresh = async () => {
    await checking(region, "the log", async () => {
      const { keys, isPinned } = await trust.keys();
      body.replaceChildren(keySection(context, trust, keys, isPinned, refresh));
      const { checkpoint, signers } = await openCheckpoint(newest.note, keys);
      former = null;
      for (const key of signers) former ??= (await trust.witness.recall(key))?.checkpoint ?? null;
      body.append(...checkpointSection(newest, checkpoint));
      const seen = await trust.observe(newest.note, keys);
      body.append(el("p", {}, ...memorySentence(seen)), othersWarning(seen.others));
    });
  };
  await refresh();

  const verifyButton = el("button", { type: "button", class: "primary" }, "Verify");
  verifyButton.addEventListener("click", () => once(context, verifyButton, () => {
    region.busy("Verifying");
    return checking(region, "the log", async () => {
      const { keys } = await trust.keys();
      const { checkpoint: newestCheckpoint } = await openCheckpoint(newest.note, keys);
      await trust.observe(newest.note, keys);
      const { chain, leftOut } = await chainOf(context, keys, former, newestCheckpoint);
      await checkChain(trust, chain);
      region.good([chain.length > 1
        ? `Verified: ${chain.map(({ size }) => size).join(", ")} continue each other.${leftOut}`
        : `Verified: the log of ${chain[0].size} events is signed. There is no other checkpoint to compare it with yet.${leftOut}`]);
    });
  }));
  return [body, el("div", { class: "actions" }, verifyButton), ...region.nodes, honesty(), await checkpointsSection(context)];
}

/**
 * The newest note; undefined when the server denies one that this browser has seen, which the region then tells.
 *
 * @param {Trust} trust
 * @param {import("./verdicts.mjs").Region} region
 */
async function newestOf(trust, region) {
  const found = { newest: /** @type {{note: string, signedAt: string} | null | undefined} */ (undefined) };
  await checking(region, "the log", async () => { found.newest = await trust.newest(); });
  return found.newest;
}

/**
 * @param {any} context
 * @param {Trust} trust
 * @param {import("../proof/note.mjs").VerifierKey[]} keys
 * @param {boolean} isPinned
 * @param {() => Promise<void>} refresh
 */
function keySection(context, trust, keys, isPinned, refresh) {
  const pasted = field("Verifier key that you were given", { autocomplete: "off", spellcheck: "false" },
    "NAME+ID+KEY, from the operator or an earlier audit by another way than this page. It stays in this browser.");
  const shown = el("ul", { "aria-label": "Keys" }, ...keys.map(({ vkey, id }) => el("li", {}, `key ${id} `, el("code", {}, vkey))));
  const heading = el("h2", { id: "log-key", tabindex: "-1" }, "Key");
  /** Shows the log by the key that counts now. The button that had the focus is gone then. */
  const showAnew = async () => {
    await refresh();
    if (document.activeElement === document.body) document.getElementById(heading.id)?.focus();
  };
  const forgetButton = el("button", { type: "button" }, "Forget the pasted key");
  forgetButton.addEventListener("click", () => once(context, forgetButton, async () => {
    trust.pinned.forget();
    await showAnew();
    context.say("The pasted key is forgotten.");
  }));
  if (isPinned) {
    return el("section", { "aria-label": "Key" }, heading,
      el("p", {}, "Only the key that you pasted counts in this browser:"), shown, forgetButton);
  }
  return el("section", { "aria-label": "Key" }, heading,
    el("p", {}, "This server states that the log is signed by:"), shown,
    form({
      fields: [pasted], submit: "Use this key", missing: "Paste a key",
      onsubmit: (button) => once(context, button, async () => {
        let key;
        try {
          key = await trust.pinned.pin(pasted.value);
        } catch (error) {
          pasted.fault(error instanceof Fault ? error.message : String(error));
          return;
        }
        await showAnew();
        const isStated = keys.some(({ vkey }) => vkey === key.vkey);
        context.say(isStated ? "This is the key that the server states, too. It alone counts from now on."
          : "The key is kept. It is not one that the server states.");
      }),
    }));
}

/**
 * @param {{note: string, signedAt: string}} newest
 * @param {import("../proof/note.mjs").Checkpoint} checkpoint
 */
function checkpointSection({ note, signedAt }, { origin, size, root }) {
  return [
    el("h2", {}, "Newest checkpoint"),
    el("p", {}, `${size} events of ${origin}, signed at `, time(signedAt), " by the signer's clock."),
    bytesDetails("Details", [["root", toBase64(root)], ["note", note]]),
    el("button", { type: "button", onclick: () => download(`checkpoint-${size}.txt`, [note]) }, "Download checkpoint"),
  ];
}

/** The checkpoints of an address: from a size on. */
async function checkpointsSection(/** @type {any} */ context) {
  const from = /^\d+$/.test(context.query.get("from") ?? "") ? context.query.get("from") : "0";
  const answer = await context.api.call("GET", `v1/log/checkpoints?from=${from}&limit=${listed}`);
  return el("section", { "aria-label": "Checkpoints" }, el("h2", {}, "Checkpoints"),
    answer.checkpoints.length === 0 && el("p", {}, "No checkpoint of this size or a larger one."),
    el("ol", { class: "rows", "aria-label": "Checkpoints" }, ...answer.checkpoints.map((/** @type {any} */ each) => el("li", {},
      `${each.size} events, signed at `, time(each.signed_at), el("details", {}, el("summary", {}, `Note of ${each.size} events`),
        el("pre", { tabindex: "0", "aria-label": `Note of ${each.size} events` }, each.note))))),
    el("p", {}, from !== "0" && context.link("log", "The first ones"), from !== "0" && answer.more && " ",
      answer.more && context.link(`log?from=${answer.next}`, "Larger ones")));
}

/**
 * Checkpoints to compare in turn: the one that this browser remembered, some after it, and the newest. Those of another log,
 * as from before an accepted restore, and those that other keys have signed, as a retired one, are left out and counted.
 *
 * @param {any} context
 * @param {import("../proof/note.mjs").VerifierKey[]} keys
 * @param {import("../proof/note.mjs").Checkpoint | null} former
 * @param {import("../proof/note.mjs").Checkpoint} newest
 */
async function chainOf(context, keys, former, newest) {
  const start = former && former.size < newest.size ? former.size : 1n;
  const answer = await context.api.call("GET", `v1/log/checkpoints?from=${start}&to=${newest.size}&limit=1000`);
  need(Array.isArray(answer.checkpoints), "the server has no list of checkpoints");
  const own = [];
  let ofOthers = 0;
  let byOthers = 0;
  for (const { note } of answer.checkpoints) {
    const { checkpoint, isSigned } = await readCheckpoint(String(note), keys);
    if (checkpoint.origin !== newest.origin) ofOthers += 1;
    else if (!isSigned) byOthers += 1;
    else own.push(checkpoint);
  }
  const step = Math.max(1, Math.ceil(own.length / chainMax));
  const chain = former && former.size < newest.size ? [former] : [];
  chain.push(...own.filter((_, index) => index % step === 0), newest);
  const reasons = [
    ofOthers > 0 && ` ${count(ofOthers, "checkpoint")} of another log, as from before a restore: not compared.`,
    byOthers > 0 && ` ${count(byOthers, "checkpoint")} not signed by the keys that count here: not compared.`,
  ];
  return { chain, leftOut: reasons.filter(Boolean).join("") };
}

/**
 * @param {Trust} trust
 * @param {import("../proof/note.mjs").Checkpoint[]} chain
 */
async function checkChain(trust, chain) {
  for (const [index, next] of chain.entries()) {
    if (index === 0) continue;
    const before = chain[index - 1];
    need(before.size <= next.size, "the checkpoints are not in order",
      { expected: `at least ${before.size}`, found: String(next.size) });
    await compare(before, next, (old, size) => trust.prove(old, size));
    if (before.size === next.size) chain[index - 1] = next;
  }
  const unique = chain.filter(({ size }, index) => index === 0 || chain[index - 1].size !== size);
  chain.splice(0, chain.length, ...unique);
}
