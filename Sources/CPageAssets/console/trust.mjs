// What this browser knows of a ledger's log: the key that was pasted, and the newest note that it has verified.

import { need, pathFromBase64 } from "../proof/bytes.mjs";
import { openCheckpoint, parseKey } from "../proof/note.mjs";
import { needUnsealed, PinnedKey, Witness } from "../proof/witness.mjs";

const keysMax = 20;
/** Answers that say that the server has no such proof. */
const withoutProof = ["SIZE_NOT_SIGNED", "NOT_SEALED_YET", "LOG_DAMAGED", "INVALID_REQUEST"];

/** The trust in a log, as the pages of one ledger use it. */
export class Trust {
  /** @param {any} context of a view */
  constructor({ api, root }) {
    this.api = api;
    const place = new URL(root, location.href).href;
    this.pinned = new PinnedKey(localStorage, place);
    this.witness = new Witness(localStorage, place);
  }

  /**
   * The keys that count: the pasted one alone, or else those that the server states.
   *
   * @returns {Promise<{keys: import("../proof/note.mjs").VerifierKey[], isPinned: boolean}>}
   */
  async keys() {
    const pinned = await this.pinned.read();
    if (pinned) return { keys: [pinned], isPinned: true };
    return { keys: await this.statedKeys(), isPinned: false };
  }

  /** The keys that the server states. */
  async statedKeys() {
    const { keys } = await this.api.call("GET", "v1/log/keys");
    need(Array.isArray(keys) && keys.length <= keysMax, "the server states no keys");
    return Promise.all(keys.map(({ vkey }) => parseKey(String(vkey))));
  }

  /** The checkpoints that this browser remembers now; a fault of them is for those who wait for them. */
  remembered() {
    const remembered = this.witness.remembered();
    remembered.catch(() => {});
    return remembered;
  }

  /** The newest note of the log; null while nothing is signed, unless this browser has seen a note already. */
  async newest() {
    const remembered = this.remembered();
    try {
      const { checkpoint } = await this.api.call("GET", "v1/log/inclusion?position=0");
      return { note: String(checkpoint?.note), signedAt: String(checkpoint?.signed_at) };
    } catch (error) {
      if (error.code !== "NOT_SEALED_YET") throw error;
      needUnsealed(await remembered, 0n);
      return null;
    }
  }

  /**
   * Returns if this browser has seen no checkpoint that covers a position, of the log that the server now has. After an
   * accepted restore, that is another log than before.
   *
   * @param {bigint} position
   * @param {ReturnType<Trust["remembered"]>} before what was remembered before the server was asked
   */
  async checkUnsealed(position, before) {
    const remembered = await before;
    if (!remembered.some(({ size }) => size > position)) return;
    const newest = await this.newest();
    if (!newest) return;
    const { checkpoint } = await this.observe(newest.note, (await this.keys()).keys);
    needUnsealed(remembered.filter(({ origin }) => origin === checkpoint.origin), position);
  }

  /**
   * Asks for the proof that the log of a size continues the one of another; null when the server has none.
   *
   * @param {bigint} old
   * @param {bigint} size
   */
  async prove(old, size) {
    try {
      const { path } = await this.api.call("GET", `v1/log/consistency?old=${old}&size=${size}`);
      return pathFromBase64(path);
    } catch (error) {
      if (withoutProof.includes(error.code)) return null;
      throw error;
    }
  }

  /**
   * Compares a note with what this browser has seen of the log, for each of its keys, and remembers the newer.
   *
   * @param {string} note
   * @param {import("../proof/note.mjs").VerifierKey[]} keys
   */
  async observe(note, keys) {
    const { signers, checkpoint } = await openCheckpoint(note, keys);
    const seen = [];
    for (const key of signers.filter(({ name }) => name === checkpoint.origin)) {
      seen.push(await this.witness.observe(note, key, new Date().toISOString(), (old, size) => this.prove(old, size)));
    }
    return { ...seen[0], checkpoint, signers, others: this.witness.others(signers) };
  }
}
