// Bundles of account-ledger, verified without a server: what signed, the tree or the proofs, and the histories.

import { BundleFiles } from "./bundle-files.mjs";
import { areEqual, exactJSON, Fault, fromDecimal, fromUTF8, hashFromBase64, need, pathFromBase64, toBase64 } from "./bytes.mjs";
import { Histories, parseLine } from "./histories.mjs";
import { openCheckpoint, parseKey, readCheckpoint } from "./note.mjs";
import { checkConsistency, checkInclusion, leafHash, Tree } from "./rfc6962.mjs";

/** The maximum size of a part that is read into the memory of a browser. */
const partBytesMax = 1 << 29;
const checkpointsInPartMax = 2_000;
const smallFiles = ["bundle.json", "keys.txt", "checkpoint.txt", "consistency.jsonl", "VERIFY.md", "verify.py", "verify.go"];
const page = "verify.html";

/**
 * @typedef {{
 *   tenant: string, account: string | null, isDisclosed: boolean, origin: string, size: bigint, root: Uint8Array,
 * }} Head
 * @typedef {{
 *   head: Head, signers: string[], usesOwnKeys: boolean, events: bigint, accounts: number, checkpoints: bigint,
 *   unsigned: bigint, disclosures: number, redacted: number, leftOut: number, conclusion: string,
 * }} Report
 */

class Verification {
  checkpoints = 0n;
  unsigned = 0n;
  events = 0n;
  last = -1n;
  tree = new Tree();
  /** @type {Uint8Array[]} leaves that are not in the tree yet */
  pending = [];
  /** The size of the last checkpoint that was confirmed. */
  verifiedSize = 0n;

  /**
   * @param {BundleFiles} files
   * @param {(events: bigint, size: bigint) => void} onprogress
   */
  constructor(files, onprogress) {
    this.files = files;
    this.onprogress = onprogress;
  }

  /** @returns {Promise<Head>} */
  async readHead() {
    const unknown = "bundle.json has an unknown format";
    const text = fromUTF8(await this.files.whole("bundle.json"), "bundle.json");
    need(text.endsWith("\n"), unknown);
    const value = exactJSON(text.slice(0, -1), "bundle.json");
    need(value?.format === "account-ledger-bundle@v1", unknown);
    const isWhole = value.scope === "all" && value.account === undefined;
    need(isWhole || (value.scope === "account" && typeof value.account === "string"), unknown);
    need(typeof value.disclosed === "boolean" && typeof value.tenant === "string", unknown);
    return {
      tenant: value.tenant, account: value.account ?? null, isDisclosed: value.disclosed, origin: value.origin,
      size: fromDecimal(value.size), root: hashFromBase64(value.root),
    };
  }

  /**
   * @param {Head} head
   * @param {import("./note.mjs").VerifierKey[]} keys
   */
  async readCheckpoint(head, keys) {
    let opened;
    try {
      opened = await openCheckpoint(await this.files.whole("checkpoint.txt"), keys);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault(`checkpoint.txt is invalid: ${error.message}`, { expected: error.expected, found: error.found });
    }
    const { origin, size, root } = opened.checkpoint;
    need(origin === head.origin && size === head.size && areEqual(root, head.root), "checkpoint.txt does not match bundle.json");
    return opened.signers.map(({ vkey }) => vkey);
  }

  /**
   * @param {any} note
   * @param {Head} head
   * @param {import("./note.mjs").VerifierKey[]} keys
   */
  async listed(note, head, keys) {
    need(typeof note === "string", "a listed checkpoint is malformed");
    const { checkpoint, isSigned } = await readCheckpoint(note, keys);
    need(checkpoint.origin === head.origin, "a listed checkpoint is of another log");
    if (!isSigned) this.unsigned += 1n;
    return checkpoint;
  }

  /**
   * @param {Head} head
   * @param {import("./note.mjs").VerifierKey[]} keys
   */
  async checkOlder(head, keys) {
    for (const text of await this.files.lines("consistency.jsonl")) {
      const line = exactJSON(text, "a listed checkpoint");
      const { size: old, root: oldRoot } = await this.listed(line?.note, head, keys);
      const path = pathFromBase64(line.path);
      try {
        await checkConsistency({ old, size: head.size, path, oldRoot, root: head.root });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        throw new Fault(`the checkpoint does not continue the one of ${old} entries`, error);
      }
      this.checkpoints += 1n;
    }
  }

  /**
   * @param {number} part
   * @param {Head} head
   * @param {import("./note.mjs").VerifierKey[]} keys
   * @param {Histories} histories
   */
  async take(part, head, keys, histories) {
    /** @type {import("./note.mjs").Checkpoint[]} */
    const ahead = [];
    if (this.files.has(nameOf("checkpoints", part))) {
      const lines = await this.files.lines(nameOf("checkpoints", part), partBytesMax);
      need(lines.length <= checkpointsInPartMax, "a part has more checkpoints than entries");
      for (const line of lines) ahead.push(await this.listed(exactJSON(line, "a listed checkpoint")?.note, head, keys));
    }
    // The hashes are computed at once, and the lines then checked in their order, so that the first fault is told.
    const texts = await this.files.lines(nameOf("entries", part), partBytesMax);
    const lines = await Promise.all(texts.map(readLine));
    for (const { line, leaf } of lines) {
      const next = this.last + 1n;
      if (!line) throw new Fault("the line is not an event", { position: next });
      const { position } = line;
      if (head.account === null) {
        need(position === next, "the entry is missing", { position: next });
      } else {
        need(position >= next, "the entries are not in order", { position });
        await this.prove(line, leaf, head);
      }
      await histories.take(line, leaf);
      this.last = position;
      this.events += 1n;
      if (head.account === null) await this.grow(leaf, ahead);
    }
    await this.tree.append(this.pending.splice(0));
    need(ahead.length === 0, "a checkpoint is beyond the entries of its part", { position: this.last + 1n });
    this.onprogress(this.events, head.size);
  }

  /**
   * Appends a leaf, and compares the root with a checkpoint that ends here.
   *
   * @param {Uint8Array} leaf
   * @param {import("./note.mjs").Checkpoint[]} ahead
   */
  async grow(leaf, ahead) {
    this.pending.push(leaf);
    while (ahead.length > 0 && ahead[0].size <= this.events) {
      const { size, root } = /** @type {import("./note.mjs").Checkpoint} */ (ahead.shift());
      need(size === this.events, "the checkpoints are not in order", { position: this.last });
      await this.tree.append(this.pending.splice(0));
      await this.compareRoot({ size, root });
      this.checkpoints += 1n;
      this.verifiedSize = size;
    }
  }

  /** @param {{size: bigint, root: Uint8Array}} checkpoint */
  async compareRoot({ size, root }) {
    const found = await this.tree.root();
    need(areEqual(found, root), `an entry from here to position ${size - 1n} is not what was signed: the root over `
      + `${size} entries differs`, { position: this.verifiedSize, expected: toBase64(root), found: toBase64(found) });
  }

  /**
   * @param {ReturnType<typeof parseLine>} line
   * @param {Uint8Array} leaf
   * @param {Head} head
   */
  async prove({ position, path }, leaf, { size, root }) {
    need(path, "the proof is missing", { position });
    try {
      await checkInclusion({ position, size, leaf, path, root });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault("the proof does not lead from the entry to the checkpoint",
        { position, expected: error.expected, found: error.found });
    }
  }
}

/**
 * Reads a line with its leaf hash; neither when it is not an event.
 *
 * @param {string} text
 */
async function readLine(text) {
  try {
    const line = parseLine(exactJSON(text, "the line"));
    return { line, leaf: await leafHash(line.entry) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { line: null, leaf: new Uint8Array() };
  }
}

/**
 * Verifies a bundle, and fails at the first thing that does not hold.
 *
 * @param {Map<string, import("./tar.mjs").Member>} members
 * @param {{vkeys: string[], isArchive: boolean, onprogress?: (events: bigint, size: bigint) => void}} options `vkeys` are
 *   keys of the log from another source; without any, the bundle's own are used, which shows only that it is consistent
 * @returns {Promise<Report>}
 */
export async function verifyBundle(members, { vkeys, isArchive, onprogress = () => {} }) {
  const files = new BundleFiles(members, isArchive);
  const verification = new Verification(files, onprogress);
  const head = await verification.readHead();
  const own = (await files.lines("keys.txt")).filter((line) => line !== "");
  const keys = await Promise.all((vkeys.length > 0 ? vkeys : own).map(parseKey));
  const signers = await verification.readCheckpoint(head, keys);
  await verification.checkOlder(head, keys);
  const order = [...smallFiles];
  for (const name of ["VERIFY.md", "verify.py", "verify.go"]) await files.whole(name);
  // Bundles of former releases have no page.
  if (files.has(page)) {
    await files.whole(page);
    order.push(page);
  }
  const histories = new Histories(head);
  for (let part = 0; files.has(nameOf("entries", part)); part += 1) {
    if (files.has(nameOf("checkpoints", part))) order.push(nameOf("checkpoints", part));
    order.push(nameOf("entries", part));
    await verification.take(part, head, keys, histories);
  }
  const { events } = verification;
  if (head.account === null) {
    need(events === head.size, `the bundle has ${events} entries, the checkpoint covers ${head.size}`,
      { position: events < head.size ? events : head.size });
    await verification.compareRoot(head);
  }
  const tail = head.account === null ? undefined : histories.tails.get(head.account);
  need(head.account === null || tail, `the bundle has no entry of account ${head.account}`);
  const redacted = histories.settle();
  await files.checkManifest(order, events, verification.checkpoints);
  return {
    head, signers, usesOwnKeys: vkeys.length === 0, events, accounts: histories.tails.size,
    checkpoints: verification.checkpoints, unsigned: verification.unsigned, disclosures: histories.disclosed, redacted,
    leftOut: histories.leftOut, conclusion: tail
      ? `everything holds up to seq ${tail.seq} at position ${tail.position}, without a gap; that no later entry of the `
        + "account follows is not proved"
      : "everything holds: every entry of the log up to the checkpoint is here",
  };
}

/**
 * @param {string} folder
 * @param {number} part
 */
function nameOf(folder, part) {
  return `${folder}/${String(part).padStart(6, "0")}.jsonl`;
}
