// Signed notes, verifier keys and checkpoints: C2SP signed-note and tlog-checkpoint, with Ed25519 keys (type 0x01).

import {
  areEqual, Fault, fromBase64, fromDecimal, fromUTF8, hashFromBase64, joined, need, sha256, toHex, toUTF8,
} from "./bytes.mjs";
import { emptyRoot } from "./rfc6962.mjs";

const noteBytesMax = 1 << 20;
const signaturesMax = 100;
const ed25519Type = 0x01;

/**
 * A key that verifies notes.
 *
 * @typedef {{vkey: string, name: string, id: string, publicKey: Uint8Array}} VerifierKey
 */

/**
 * A text with signatures. It proves nothing before `openCheckpoint` returns.
 *
 * @typedef {{text: string, signatures: {name: string, id: string, bytes: Uint8Array}[]}} Note
 */

/**
 * A statement of a log: its name, its number of entries, and their root.
 *
 * @typedef {{origin: string, size: bigint, root: Uint8Array}} Checkpoint
 */

/** @param {string} name */
function isKeyName(name) {
  return name.length > 0 && !/[\p{White_Space}+\u0000-\u001f]/u.test(name);
}

/**
 * Reads a verifier key, `NAME+ID+KEY`.
 *
 * @param {string} vkey
 * @returns {Promise<VerifierKey>}
 */
export async function parseKey(vkey) {
  const malformed = "this is no verifier key: it has the form NAME+ID+KEY";
  const parts = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(vkey);
  need(vkey.length <= 1_024 && parts && isKeyName(parts[1]), malformed);
  const [, name, id, encoded] = parts;
  const key = fromBase64(encoded);
  need(key.length === 33 && key[0] === ed25519Type, "the key is not an Ed25519 key of notes");
  const found = await keyID(name, key);
  need(found === id, "the id of the key does not match it", { expected: id, found });
  return { vkey, name, id, publicKey: key.slice(1) };
}

/**
 * @param {string} name
 * @param {Uint8Array} typedKey
 */
async function keyID(name, typedKey) {
  return toHex((await sha256(joined(toUTF8(`${name}\n`), typedKey))).subarray(0, 4));
}

/**
 * Reads an untrusted note.
 *
 * @param {string | Uint8Array} note
 * @returns {Note}
 */
export function parseNote(note) {
  need(typeof note === "string" || note instanceof Uint8Array, "there is no note");
  const bytes = typeof note === "string" ? toUTF8(note) : note;
  need(bytes.length <= noteBytesMax, "the note is too long");
  const whole = fromUTF8(bytes, "the note");
  need(!/[\u0000-\u0009\u000b-\u001f]/u.test(whole), "the note contains control characters");
  const end = whole.lastIndexOf("\n\n");
  need(end >= 0 && whole.endsWith("\n") && whole.length > end + 2, "the note has no signatures");
  const lines = whole.slice(end + 2, -1).split("\n", signaturesMax + 1);
  need(lines.length <= signaturesMax, "the note has too many signatures");
  return { text: whole.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

/** @param {string} line */
function parseSignature(line) {
  const parts = line.split(" ");
  need(parts.length === 3 && parts[0] === "\u2014" && isKeyName(parts[1]), "a signature of the note is malformed");
  const bytes = fromBase64(parts[2]);
  need(bytes.length > 4, "a signature of the note is malformed");
  return { name: parts[1], id: toHex(bytes.subarray(0, 4)), bytes: bytes.slice(4) };
}

/**
 * Reads the text of a note; it proves nothing by itself.
 *
 * @param {string} text
 * @returns {Promise<Checkpoint>}
 */
export async function parseCheckpoint(text) {
  const lines = text.split("\n");
  const last = lines.pop();
  need(last === "" && lines.length >= 3 && lines.every((line) => line !== "") && isKeyName(lines[0]),
    "the note is not a checkpoint");
  const checkpoint = { origin: lines[0], size: fromDecimal(lines[1]), root: hashFromBase64(lines[2]) };
  need(checkpoint.size > 0n || areEqual(checkpoint.root, await emptyRoot()), "the note is not a checkpoint");
  return checkpoint;
}

/**
 * Returns the keys that have signed a note. A wrong signature with the name and the id of a given key makes the
 * whole note invalid; signatures of other keys are ignored.
 *
 * @param {Note} note
 * @param {VerifierKey[]} keys
 */
async function signersOf(note, keys) {
  const signed = toUTF8(note.text);
  const signers = [];
  for (const key of keys) {
    const own = note.signatures.filter(({ name, id }) => name === key.name && id === key.id);
    for (const { bytes } of own) {
      need(await isSignature(bytes, signed, key), `the signature of key ${key.id} is wrong`,
        { expected: `a signature by ${key.vkey}`, found: toHex(bytes) });
    }
    if (own.length > 0) signers.push(key);
  }
  return signers;
}

/**
 * @param {Uint8Array} signature
 * @param {Uint8Array} text
 * @param {VerifierKey} key
 */
async function isSignature(signature, text, key) {
  if (signature.length !== 64) return false;
  try {
    const imported = await crypto.subtle.importKey(
      "raw", /** @type {any} */ (key.publicKey), { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify(
      { name: "Ed25519" }, imported, /** @type {any} */ (signature), /** @type {any} */ (text));
  } catch (error) {
    if (error.name === "NotSupportedError") throw new Fault("this browser can't check Ed25519 signatures");
    return false;
  }
}

/**
 * Returns the checkpoint of a note with the keys that have signed it; `isSigned` says whether one of them is the log's.
 *
 * @param {string | Uint8Array} note
 * @param {VerifierKey[]} keys
 */
export async function readCheckpoint(note, keys) {
  const parsed = parseNote(note);
  const checkpoint = await parseCheckpoint(parsed.text);
  const signers = await signersOf(parsed, keys);
  return { checkpoint, note: parsed, signers, isSigned: signers.some(({ name }) => name === checkpoint.origin) };
}

/**
 * Reads a checkpoint that one of these keys, of the name of the log, has signed.
 *
 * @param {string | Uint8Array} note
 * @param {VerifierKey[]} keys
 */
export async function openCheckpoint(note, keys) {
  const read = await readCheckpoint(note, keys);
  need(read.isSigned, "none of the given keys has signed the checkpoint as its log", {
    expected: keys.map(({ vkey }) => vkey).join(" ") || "a key",
    found: `${read.checkpoint.origin}, signed by ${read.note.signatures.map(({ name, id }) => `${name} ${id}`).join(", ")}`,
  });
  return read;
}
