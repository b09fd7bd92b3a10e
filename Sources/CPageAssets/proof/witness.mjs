// The browser as a witness of a log: the newest verified note per origin and key, and what must continue it.

import { Fault, need, toBase64 } from "./bytes.mjs";
import { openCheckpoint, parseKey } from "./note.mjs";
import { checkConsistency } from "./rfc6962.mjs";

const prefix = "ledger-witness ";
const recordBytesMax = 1 << 16;

/**
 * The memory of one log and one key: the newest verified note, since when it is followed and from which size, and
 * the page of the log.
 *
 * @typedef {{note: string, since: string, firstSize: string, place: string, origin: string, vkey: string}} Memory
 */

/** What was remembered, or what the log is now, contradicts the other. */
export class Contradiction extends Fault {}

export class Witness {
  /**
   * @param {Pick<Storage, "getItem" | "setItem" | "key" | "length">} storage
   * @param {string} place the address of the ledger's pages
   */
  constructor(storage, place) {
    this.storage = storage;
    this.place = place;
  }

  /**
   * The checkpoint remembered for a key, verified again: what is stored may have been damaged.
   *
   * @param {import("./note.mjs").VerifierKey} key
   */
  async recall(key) {
    const text = this.storage.getItem(nameOf(key));
    const memory = read(text);
    if (!memory) return null;
    const { checkpoint } = await openCheckpoint(memory.note, [key]);
    return { memory, checkpoint, text };
  }

  /** The checkpoints that this browser remembers of this place, by whichever key, each verified again. */
  async remembered() {
    const memories = this.others([]);
    return Promise.all(memories.map(async ({ note, vkey }) => (await openCheckpoint(note, [await parseKey(vkey)])).checkpoint));
  }

  /** Other keys or logs that this browser has followed at this address. */
  others(/** @type {import("./note.mjs").VerifierKey[]} */ keys) {
    const others = [];
    for (let index = 0; index < this.storage.length; index += 1) {
      const name = this.storage.key(index);
      const memory = name?.startsWith(prefix) ? read(this.storage.getItem(name)) : null;
      if (memory?.place === this.place && !keys.some(({ vkey }) => vkey === memory.vkey)) others.push(memory);
    }
    return others;
  }

  /**
   * Compares a note with the remembered one, and remembers the newer of them. Nothing is remembered of a log that
   * contradicts itself.
   *
   * @param {string} note
   * @param {import("./note.mjs").VerifierKey} key
   * @param {string} now
   * @param {Prove} prove
   * @returns {Promise<{former: bigint | null, size: bigint, since: string, firstSize: string}>}
   */
  async observe(note, key, now, prove) {
    const { checkpoint } = await openCheckpoint(note, [key]);
    const { origin, size } = checkpoint;
    const recalled = await this.recall(key);
    if (!recalled) {
      const memory = { note, since: now, firstSize: String(size), place: this.place, origin, vkey: key.vkey };
      this.storage.setItem(nameOf(key), JSON.stringify(memory));
      return { former: null, size, since: now, firstSize: memory.firstSize };
    }
    const { memory, checkpoint: former, text } = recalled;
    await compare(former, checkpoint, prove);
    // Another tab may have remembered a newer one meanwhile, which stays.
    if (size > former.size && this.storage.getItem(nameOf(key)) === text) {
      this.storage.setItem(nameOf(key), JSON.stringify({ ...memory, note, place: this.place }));
    }
    return { former: former.size, size, since: memory.since, firstSize: memory.firstSize };
  }
}

/**
 * Returns if nothing contradicts an answer by which no checkpoint covers a position, or none is signed at all.
 *
 * @param {import("./note.mjs").Checkpoint[]} remembered
 * @param {bigint} position
 */
export function needUnsealed(remembered, position) {
  const known = remembered.find(({ size }) => size > position);
  if (!known) return;
  throw new Contradiction("the log is shorter than the one that this browser has seen, and was rolled back", {
    expected: `the log of ${known.size} events with the root ${toBase64(known.root)}, or one that continues it`,
    found: `no checkpoint that covers position ${position}`,
  });
}

/**
 * Fetches the consistency proof between two sizes of the log; null if the server has no proof.
 *
 * @typedef {(old: bigint, size: bigint) => Promise<Uint8Array[] | null>} Prove
 */

/**
 * Returns if one of two checkpoints continues the other. An answer may be older than the newest note that was seen,
 * as long as its log still is the beginning of that one.
 *
 * @param {import("./note.mjs").Checkpoint} former
 * @param {import("./note.mjs").Checkpoint} newer
 * @param {Prove} prove
 */
export async function compare(former, newer, prove) {
  need(former.origin === newer.origin, "the checkpoint is of another log",
    { expected: former.origin, found: newer.origin });
  const [first, last] = former.size <= newer.size ? [former, newer] : [newer, former];
  const path = first.size === last.size ? [] : await prove(first.size, last.size);
  const text = newer.size < former.size
    ? "the log is shorter than the one that this browser has seen, and was rolled back"
    : `the log does not continue the one of ${former.size} events that this browser has seen`;
  if (!path) {
    throw new Contradiction(text, {
      expected: `the log of ${former.size} events with the root ${toBase64(former.root)}, or one that continues it`,
      found: `a log of ${newer.size} events with the root ${toBase64(newer.root)}, and no proof`,
    });
  }
  try {
    await checkConsistency({ old: first.size, size: last.size, path, oldRoot: first.root, root: last.root });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Contradiction(`${text}: ${error.message}`, { expected: error.expected, found: error.found });
  }
}

const pinPrefix = "ledger-key ";

/** The key that a person was given for the ledger at an address. */
export class PinnedKey {
  /**
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} storage
   * @param {string} place
   */
  constructor(storage, place) {
    this.storage = storage;
    this.name = pinPrefix + place;
  }

  /** @returns {Promise<import("./note.mjs").VerifierKey | null>} */
  async read() {
    const vkey = this.storage.getItem(this.name);
    return vkey === null ? null : parseKey(vkey);
  }

  /** @param {string} vkey */
  async pin(vkey) {
    const key = await parseKey(vkey.trim());
    this.storage.setItem(this.name, key.vkey);
    return key;
  }

  forget() {
    this.storage.removeItem(this.name);
  }
}

/** @param {import("./note.mjs").VerifierKey} key */
function nameOf(key) {
  return prefix + key.vkey;
}

/**
 * @param {string | null} text
 * @returns {Memory | null}
 */
function read(text) {
  if (text === null) return null;
  need(text.length <= recordBytesMax, "what this browser remembers of the log is damaged");
  let memory;
  try {
    memory = JSON.parse(text);
  } catch {
    memory = null;
  }
  for (const name of ["note", "since", "firstSize", "place", "origin", "vkey"]) {
    need(typeof memory?.[name] === "string", "what this browser remembers of the log is damaged");
  }
  return memory;
}
