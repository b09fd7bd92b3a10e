// Passkeys of the browser; null when the person has cancelled.

/** @type {any} what newer browsers have and the types of the compiler lack */
const passkeys = globalThis.PublicKeyCredential;

/** Makes a passkey. */
export function createPasskey(options) {
  return answered(() => navigator.credentials.create({
    publicKey: passkeys.parseCreationOptionsFromJSON(options),
  }));
}

/** Uses a passkey. */
export function usePasskey(options) {
  return answered(() => navigator.credentials.get({
    publicKey: passkeys.parseRequestOptionsFromJSON(options),
  }));
}

/** @param {() => Promise<any>} begin */
async function answered(begin) {
  try {
    return (await begin())?.toJSON() ?? null;
  } catch (error) {
    // Refused by the person, by the authenticator that has one already, or by the name of the page.
    if (error instanceof DOMException) return null;
    throw error;
  }
}
