// Prints new contents of Fixtures/chromium.json: credentials of Chromium's virtual authenticators.

import { openBrowser } from "./browser.mjs";

const bytes = (first, count) =>
  Buffer.from(Array.from({ length: count }, (_, index) => first + index)).toString("base64url");
const platform = {
  protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
};
const securityKey = { ...platform, transport: "usb" };
const cases = [
  { name: "es256", authenticator: platform },
  { name: "edDSA", authenticator: platform, algorithm: -8 },
  { name: "rs256", authenticator: platform, algorithm: -257 },
  {
    name: "backedUp",
    authenticator: { ...platform, defaultBackupEligibility: true, defaultBackupState: true },
  },
  {
    name: "unverified",
    authenticator: { ...securityKey, hasResidentKey: false, hasUserVerification: false },
    isStored: false,
  },
  { name: "packed", authenticator: securityKey, attestation: "direct" },
  { name: "u2f", authenticator: { protocol: "u2f", transport: "usb" }, attestation: "direct", isStored: false },
  {
    name: "extensions",
    authenticator: { ...securityKey, ctap2Version: "ctap2_1", hasCredBlob: true, hasMinPinLength: true },
    attestation: "direct",
    creationExtensions: {
      credentialProtectionPolicy: "userVerificationOptionalWithCredentialIDList", minPinLength: true,
    },
    blob: true,
  },
];

const browser = await openBrowser();
const fixtures = [];
for (const { name, authenticator, algorithm = -7, attestation = "none", isStored = true, creationExtensions, blob } of cases) {
  await browser.plugIn(authenticator);
  const creation = {
    rp: { id: "localhost", name: "Example" },
    user: { id: bytes(0, 16), name: "ada@example.com", displayName: "Ada" },
    challenge: bytes(0, 32),
    pubKeyCredParams: [{ type: "public-key", alg: algorithm }],
    authenticatorSelection: {
      residentKey: isStored ? "required" : "discouraged", userVerification: isStored ? "required" : "discouraged",
    },
    attestation,
    extensions: creationExtensions,
  };
  const registration = await browser.create(creation);
  const assertion = await browser.get({
    rpId: "localhost",
    challenge: bytes(32, 32),
    allowCredentials: isStored ? [] : [{ type: "public-key", id: JSON.parse(registration).id }],
    userVerification: isStored ? "required" : "discouraged",
    extensions: blob ? { getCredBlob: true } : undefined,
  });
  fixtures.push({ name, registration, assertion });
}
const madeBy = `Browser/record.mjs with ${browser.product}`;
process.stdout.write(`${JSON.stringify({ madeBy, origin: browser.origin, fixtures }, null, 2)}\n`);
await browser.close();
