// Offline proofs that an entry is in a log: C2SP tlog-proof, version 1, files with the extension .tlog-proof.

import { toBase64 } from "./bytes.mjs";

/**
 * Writes a proof.
 *
 * @param {{position: bigint, path: Uint8Array[], note: string}} proof
 */
export function formatProof({ position, path, note }) {
  return `c2sp.org/tlog-proof@v1\nindex ${position}\n${path.map((hash) => `${toBase64(hash)}\n`).join("")}\n${note}`;
}
