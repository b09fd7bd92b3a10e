// Offline proofs that an entry is in a log: C2SP tlog-proof, version 1, files with the extension .tlog-proof.

import { fromBase64, fromDecimal, fromUTF8, hashFromBase64, need, toBase64, toUTF8 } from "./bytes.mjs";
import { openCheckpoint } from "./note.mjs";
import { checkInclusion, leafHash } from "./rfc6962.mjs";

const firstLine = "c2sp.org/tlog-proof@v1";
const proofBytesMax = (1 << 20) + (1 << 16);
const hashesInProofMax = 63;

/**
 * Writes a proof.
 *
 * @param {{position: bigint, path: Uint8Array[], note: string}} proof
 */
export function formatProof({ position, path, note }) {
  return `${firstLine}\nindex ${position}\n${path.map((hash) => `${toBase64(hash)}\n`).join("")}\n${note}`;
}

/**
 * Reads an untrusted proof.
 *
 * @param {string | Uint8Array} proof
 * @returns {{position: bigint, path: Uint8Array[], note: string}}
 */
export function parseProof(proof) {
  const bytes = typeof proof === "string" ? toUTF8(proof) : proof;
  need(bytes.length <= proofBytesMax, "the proof is too long");
  const text = fromUTF8(bytes, "the proof");
  const end = text.indexOf("\n\n");
  need(end >= 0, "the proof is malformed");
  const lines = text.slice(0, end).split("\n", hashesInProofMax + 4);
  need(lines.shift() === firstLine, "the proof is malformed");
  if (lines[0]?.startsWith("extra ")) fromBase64(/** @type {string} */ (lines.shift()).slice(6));
  const index = lines.shift();
  need(index !== undefined && index.startsWith("index ") && lines.length <= hashesInProofMax, "the proof is malformed");
  return { position: fromDecimal(index.slice(6)), path: lines.map(hashFromBase64), note: text.slice(end + 2) };
}

/**
 * Returns the checkpoint if one of these keys has signed it and its tree has the entry.
 *
 * @param {string | Uint8Array} proof
 * @param {Uint8Array} entry
 * @param {import("./note.mjs").VerifierKey[]} keys
 */
export async function checkProof(proof, entry, keys) {
  const { position, path, note } = parseProof(proof);
  const { checkpoint, signers } = await openCheckpoint(note, keys);
  const { size, root } = checkpoint;
  await checkInclusion({ position, size, leaf: await leafHash(entry), path, root });
  return { position, checkpoint, signers };
}
