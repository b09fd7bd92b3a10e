// Entries of a bundle, consistent in themselves and with each other: positions, times, accounts and disclosures.

import { Fault, fromBase64, fromDecimal, need, pathFromBase64, sha256, toBase64URL, toUTF8 } from "./bytes.mjs";
import { parseEntry } from "./entry.mjs";

const disclosuresMax = 64;

/**
 * Reads a line of a bundle's entries.
 *
 * @param {any} line
 */
export function parseLine(line) {
  const disclosures = line?.disclosures ?? [];
  need(Array.isArray(disclosures) && disclosures.length <= disclosuresMax
    && disclosures.every((text) => typeof text === "string"), "the line is not an event");
  return {
    position: fromDecimal(line?.position), entry: fromBase64(line.entry), disclosures,
    path: line.path === undefined ? null : pathFromBase64(line.path),
  };
}

export class Histories {
  /** @type {Map<string, {seq: bigint, leaf: string, position: bigint}>} the last event of each account */
  tails = new Map();
  disclosed = 0;
  leftOut = 0;
  #recordedAt = "";
  /** @type {Map<string | null, {count: number, first: bigint}>} missing disclosures of each account */
  #missing = new Map();
  /** @type {Set<string>} */
  #erased = new Set();

  /** @param {{tenant: string, account: string | null, isDisclosed: boolean}} head */
  constructor(head) {
    this.head = head;
  }

  /**
   * Checks the next event.
   *
   * @param {ReturnType<typeof parseLine>} line
   * @param {Uint8Array} leaf
   */
  async take({ position, entry: bytes, disclosures }, leaf) {
    const at = { position };
    let entry;
    try {
      entry = parseEntry(bytes);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault(error.message, at);
    }
    need(entry.tenant === this.head.tenant, "the entry is of another tenant", at);
    need(entry.position === position, "the entry states another position", at);
    need(entry.recordedAt >= this.#recordedAt, "recorded_at goes back", at);
    this.#recordedAt = entry.recordedAt;
    this.#follow(entry, toBase64URL(leaf));
    await this.#disclose(entry, disclosures);
  }

  /**
   * @param {import("./entry.mjs").Entry} entry
   * @param {string} leaf
   */
  #follow({ position, accounts }, leaf) {
    const { account } = this.head;
    const touched = accounts.filter(({ id }) => account === null || id === account);
    need(touched.length > 0 || account === null, `the entry does not touch account ${account}`, { position });
    for (const { id, seq, prev } of touched) {
      const tail = this.tails.get(id);
      const next = tail ? tail.seq + 1n : 0n;
      need(seq === next, `seq of account ${id} is ${seq}, not ${next}`, { position });
      need(prev === (tail?.leaf ?? null), `the entry is not the one that position ${position} names as prev of account ${id}`,
        { position: tail?.position ?? position, expected: prev, found: tail?.leaf ?? null });
      this.tails.set(id, { seq, leaf, position });
    }
  }

  /**
   * @param {import("./entry.mjs").Entry} entry
   * @param {string[]} disclosures
   */
  async #disclose({ position, type, accounts, digests }, disclosures) {
    const at = { position };
    const { account, isDisclosed } = this.head;
    const owner = accounts[0]?.id ?? null;
    const isOwn = account === null || account === owner;
    if (type === "AccountErased" && owner !== null) this.#erased.add(owner);
    need(isDisclosed || disclosures.length === 0, "the bundle has disclosures but declares none", at);
    need(isOwn || disclosures.length === 0, "a disclosure is about another account", at);
    need(new Set(disclosures).size === disclosures.length, "a disclosure's digest is not in the entry", at);
    for (const disclosure of disclosures) {
      need(digests.includes(toBase64URL(await sha256(toUTF8(disclosure)))), "a disclosure's digest is not in the entry", at);
    }
    this.disclosed += disclosures.length;
    const absent = digests.length - disclosures.length;
    if (!isDisclosed || absent === 0) return;
    if (!isOwn) {
      this.leftOut += absent;
      return;
    }
    const { count, first } = this.#missing.get(owner) ?? { count: 0, first: position };
    this.#missing.set(owner, { count: count + absent, first });
  }

  /** Fails if a disclosure was withheld; returns the number of those that erasures destroyed. */
  settle() {
    let redacted = 0;
    let withheld = 0;
    /** @type {bigint | null} */
    let position = null;
    for (const [owner, { count, first }] of this.#missing) {
      if (owner !== null && this.#erased.has(owner)) redacted += count;
      else {
        withheld += count;
        if (position === null || first < position) position = first;
      }
    }
    need(withheld === 0, `${withheld} disclosures are WITHHELD from here on: nothing in the bundle erased their account`,
      { position });
    return redacted;
  }
}
