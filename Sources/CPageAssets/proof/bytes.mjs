// Bytes and their texts, each with one spelling only; SHA-256 by the browser.

/** A check that failed. The values are texts: the one that had to be, and the one that was. */
export class Fault extends Error {
  /**
   * @param {string} text
   * @param {{expected?: string | null, found?: string | null, position?: bigint | null}} values
   */
  constructor(text, { expected = null, found = null, position = null } = {}) {
    super(position === null ? text : `position ${position}: ${text}`);
    this.expected = expected;
    this.found = found;
    this.position = position;
  }
}

/**
 * Fails unless a condition holds.
 *
 * @param {unknown} condition
 * @param {string} text
 * @param {{expected?: string | null, found?: string | null, position?: bigint | null}} [values]
 * @returns {asserts condition}
 */
export function need(condition, text, values) {
  if (!condition) throw new Fault(text, values);
}

/**
 * Reads padded standard base64.
 *
 * @param {unknown} text
 * @returns {Uint8Array}
 */
export function fromBase64(text) {
  need(typeof text === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0, "malformed base64");
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  need(toBase64(bytes) === text, "base64 that is not canonical");
  return bytes;
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let text = "";
  for (let start = 0; start < bytes.length; start += 8_192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8_192));
  }
  return btoa(text);
}

/** @param {Uint8Array} bytes */
export function toBase64URL(bytes) {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Reads 32 bytes in padded standard base64.
 *
 * @param {unknown} text
 */
export function hashFromBase64(text) {
  const bytes = fromBase64(text);
  need(bytes.length === 32, "a hash does not have 32 bytes");
  return bytes;
}

/**
 * Reads the hashes of a proof; no tree has a longer path.
 *
 * @param {unknown} list
 */
export function pathFromBase64(list) {
  need(Array.isArray(list) && list.length < 64, "the proof is malformed");
  return list.map(hashFromBase64);
}

/**
 * Reads digits without a sign or a leading zero, below 2^63.
 *
 * @param {unknown} text
 */
export function fromDecimal(text) {
  need(typeof text === "string" && /^(0|[1-9][0-9]{0,18})$/.test(text), "a malformed number");
  const number = BigInt(text);
  need(number < 1n << 63n, "a malformed number");
  return number;
}

/**
 * Reads UTF-8; a mark of the byte order is a character like any other.
 *
 * @param {Uint8Array} bytes
 * @param {string} what
 */
export function fromUTF8(bytes, what) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Fault(`${what} is not UTF-8`);
  }
}

/** @param {string} text */
export function toUTF8(text) {
  return new TextEncoder().encode(text);
}

/**
 * Reads JSON that has no duplicate member, no space and one spelling of each string.
 *
 * @param {string} text
 * @param {string} what
 */
export function exactJSON(text, what) {
  try {
    const value = JSON.parse(text);
    if (JSON.stringify(value) === text) return value;
  } catch {
    // No JSON, or nested too deeply.
  }
  throw new Fault(`${what} is malformed`);
}

/**
 * @param {Uint8Array} left
 * @param {Uint8Array} right
 */
export function areEqual(left, right) {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** @param {...Uint8Array} parts */
export function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let start = 0;
  for (const part of parts) {
    bytes.set(part, start);
    start += part.length;
  }
  return bytes;
}

/** @param {Uint8Array} bytes */
export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {any} */ (bytes)));
}
