// Entries of the log, read from the exact bytes that are hashed: RFC 8785 JSON of strings, arrays and null alone.

import { Fault, fromDecimal, need } from "./bytes.mjs";

const entryBytesMax = 65_535;
const depthMax = 8;
const members = [
  "_sd", "_sd_alg", "accounts", "actor", "command", "details", "event", "outcome", "position", "recorded_at", "request",
  "tenant", "type", "v",
];

/**
 * An entry as its bytes have it.
 *
 * @typedef {{
 *   position: bigint, event: string, type: string, version: string, tenant: string, recordedAt: string,
 *   outcome: string, accounts: {id: string, seq: bigint, prev: string | null}[], digests: string[], value: any,
 * }} Entry
 */

/**
 * Reads an untrusted entry.
 *
 * @param {Uint8Array} bytes
 * @returns {Entry}
 */
export function parseEntry(bytes) {
  need(bytes.length > 0 && bytes.length <= entryBytesMax, "an entry has 1 to 65,535 bytes");
  need(bytes.every((byte) => byte >= 0x20 && byte < 0x7f), "the entry has bytes that no entry has");
  const text = String.fromCharCode(...bytes.subarray(0, 32_768)) + String.fromCharCode(...bytes.subarray(32_768));
  need(!text.includes("\\"), "the entry is not in its canonical form");
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Fault("the entry is not JSON");
  }
  // One spelling only: a duplicate member, a space or another order would be lost in the value.
  need(canonical(value, 0) === text, "the entry is not in its canonical form");
  need(isObject(value) && Object.keys(value).join() === members.join(), "the entry has not the members of an entry");
  for (const name of ["_sd_alg", "command", "event", "outcome", "position", "recorded_at", "tenant", "type", "v"]) {
    need(typeof value[name] === "string", `the entry has no ${name}`);
  }
  need(value._sd_alg === "sha-256", "the entry has digests of an unknown kind");
  need(value.outcome === "accepted" || value.outcome === "refused", "the entry has an unknown outcome");
  need(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/.test(value.recorded_at), "the entry has a malformed time");
  need(isObject(value.actor) && isObject(value.details), "the entry has no actor or no details");
  need(value.request === null || typeof value.request === "string", "the entry has a malformed request");
  need(Array.isArray(value._sd) && value._sd.every(isDigest) && isSorted(value._sd), "the entry has malformed digests");
  need(Array.isArray(value.accounts), "the entry has no accounts");
  return {
    position: fromDecimal(value.position), event: value.event, type: value.type, version: value.v, tenant: value.tenant,
    recordedAt: value.recorded_at, outcome: value.outcome, accounts: value.accounts.map(parseAccount),
    digests: value._sd, value,
  };
}

/** @param {any} account */
function parseAccount(account) {
  need(isObject(account) && Object.keys(account).join() === "id,prev,seq" && typeof account.id === "string",
    "the entry has a malformed account");
  const seq = fromDecimal(account.seq);
  need(seq === 0n ? account.prev === null : isDigest(account.prev), "the entry has a malformed prev");
  return { id: account.id, seq, prev: account.prev };
}

/** @param {any} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {any} text */
function isDigest(text) {
  return typeof text === "string" && /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text);
}

/** @param {string[]} texts */
function isSorted(texts) {
  return texts.every((text, index) => index === 0 || texts[index - 1] < text);
}

/**
 * @param {any} value
 * @param {number} depth
 * @returns {string}
 */
function canonical(value, depth) {
  need(depth < depthMax, "the entry is nested too deeply");
  if (value === null) return "null";
  if (typeof value === "string") return `"${value}"`;
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, depth + 1)).join(",")}]`;
  need(typeof value === "object", "the entry has a value that is no text");
  const pairs = Object.keys(value).sort().map((name) => `"${name}":${canonical(value[name], depth + 1)}`);
  return `{${pairs.join(",")}}`;
}
