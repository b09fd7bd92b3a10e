// One event verified in three steps, each with the bytes that it is about.

import { Fault, fromBase64, need, pathFromBase64, toHex } from "./bytes.mjs";
import { parseEntry } from "./entry.mjs";
import { openCheckpoint, readCheckpoint } from "./note.mjs";
import { checkInclusion, leafHash } from "./rfc6962.mjs";

/**
 * A step with its outcome; `bytes` are pairs of a name and a text.
 *
 * @typedef {{name: string, isOk: boolean, bytes: [string, string][]}} Step
 */

/**
 * The outcome: `entry`, `checkpoint` and `signers` only when everything holds, else `fault` about the last step.
 *
 * @typedef {{
 *   isVerified: boolean, steps: Step[], fault?: Fault, entry?: import("./entry.mjs").Entry,
 *   checkpoint?: import("./note.mjs").Checkpoint, signers?: import("./note.mjs").VerifierKey[], note: string,
 *   position: bigint, path: Uint8Array[],
 * }} Verdict
 */

/**
 * Verifies that an answer of the server has the event that was asked for, as the log has signed it.
 *
 * @param {{
 *   event: string, position?: bigint | null, entryBase64: string,
 *   proof: {position: string, path: string[], note: string}, keys: import("./note.mjs").VerifierKey[],
 *   origin?: string | null,
 * }} claim
 * @returns {Promise<Verdict>}
 */
export async function verifyEvent({ event, position = null, entryBase64, proof, keys, origin = null }) {
  /** @type {Step[]} */
  const steps = [];
  /** @type {Verdict} */
  const verdict = { isVerified: false, steps, note: String(proof?.note), position: -1n, path: [] };
  const step = (/** @type {string} */ name) => {
    /** @type {Step} */
    const started = { name, isOk: false, bytes: [] };
    steps.push(started);
    return started;
  };
  try {
    const first = step("leaf hash");
    need(typeof proof === "object" && proof !== null, "there is no proof");
    const bytes = fromBase64(entryBase64);
    first.bytes.push(["entry", new TextDecoder().decode(bytes)]);
    const leaf = await leafHash(bytes);
    first.bytes.push(["SHA-256 of a zero byte and the entry", toHex(leaf)]);
    const entry = parseEntry(bytes);
    need(entry.event === event, "the entry is of another event", { expected: event, found: entry.event });
    need(position === null || entry.position === position, "the entry is of another position",
      { expected: String(position), found: String(entry.position) });
    need(proof.position === String(entry.position), "the proof is for another position",
      { expected: String(entry.position), found: String(proof.position) });
    first.isOk = true;

    const second = step("path to the root");
    const path = pathFromBase64(proof.path);
    for (const [index, hash] of path.entries()) second.bytes.push([`hash ${index + 1}`, toHex(hash)]);
    // The signature is the third step; until then the note is a claim.
    const { checkpoint: claimed } = await readCheckpoint(proof.note, []);
    second.bytes.push(["root in the note", toHex(claimed.root)]);
    await checkInclusion({ position: entry.position, size: claimed.size, leaf, path, root: claimed.root });
    second.isOk = true;

    const third = step("signature");
    third.bytes.push(["note", proof.note], ["keys", keys.map(({ vkey }) => vkey).join("\n")]);
    const { checkpoint, signers } = await openCheckpoint(proof.note, keys);
    need(origin === null || checkpoint.origin === origin, "the checkpoint is of another log",
      { expected: String(origin), found: checkpoint.origin });
    third.isOk = true;
    return { ...verdict, isVerified: true, entry, checkpoint, signers, position: entry.position, path };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ...verdict, fault: error };
  }
}
