// Passkeys of the browser; null when the person has cancelled.

import { Refused } from "./api.mjs";

/** @type {any} what newer browsers have and the types of the compiler lack */
const passkeys = globalThis.PublicKeyCredential;

/** Makes a passkey. */
export function createPasskey(options) {
  return answered(() => navigator.credentials.create({
    publicKey: passkeys.parseCreationOptionsFromJSON(options),
  }), { InvalidStateError: "PASSKEY_EXISTS" });
}

/** Uses a passkey. */
export function usePasskey(options) {
  return answered(() => navigator.credentials.get({
    publicKey: passkeys.parseRequestOptionsFromJSON(options),
  }));
}

/**
 * @param {() => Promise<any>} begin
 * @param {Record<string, string>} codes of refusals by their names
 */
async function answered(begin, codes = {}) {
  try {
    return (await begin())?.toJSON() ?? null;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (["NotAllowedError", "AbortError"].includes(error.name)) return null;
    throw new Refused({ status: 0, code: codes[error.name] ?? "PASSKEY_FAILED" });
  }
}
