// Passkeys of the browser; null when the person has cancelled.

/** Makes a passkey. */
export function createPasskey(options) {
  return answered(() => navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
  }));
}

/** Uses a passkey. */
export function usePasskey(options) {
  return answered(() => navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
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
