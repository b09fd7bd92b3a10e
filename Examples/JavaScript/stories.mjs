/**
 * The acceptance stories of account linking, told by the JavaScript client against `tools/run`.
 *
 *     node Examples/JavaScript/stories.mjs [URL]
 */

import assert from "node:assert/strict";

import { AccountLedger, AccountLedgerError } from "../../clients/javascript/account-ledger.js";

const url = process.argv[2] ?? "http://127.0.0.1:8080";
/** A part of all names, so that the stories can be told again. */
const run = Date.now().toString(36);

/** Signs in at the development identity provider, as the provider's library in an app would. */
async function proof(provider, name) {
  const answer = await fetch(`${url}/dev/idp/${provider}/token?name=${name}-${run}`);
  return { id_token: (await answer.json()).id_token };
}

async function signedIn(provider, name) {
  const ledger = new AccountLedger({ url });
  await ledger.signIn(provider, await proof(provider, name));
  return ledger;
}

/** Returns the refusal of a call that has to be refused. */
async function refusal(call) {
  const error = await call.then(() => assert.fail("accepted"), (error) => error);
  assert(error instanceof AccountLedgerError, error);
  return error;
}

const phone = await signedIn("apple", "ada");
const linked = await phone.link("google", await proof("google", "ada"));
assert.deepEqual(linked.linked_providers, ["apple", "google"]);
console.log(`AC1  signed in with apple, linked google: ${linked.linked_providers.join(", ")}`);

const bens = await signedIn("google", "ben");
const bensLinks = await bens.link("apple", await proof("apple", "ben"));
assert.deepEqual(bensLinks.linked_providers, ["google", "apple"]);
console.log(`AC2  signed in with google, linked apple: ${bensLinks.linked_providers.join(", ")}`);

const eves = await signedIn("apple", "eve");
const conflict = await refusal(eves.link("google", await proof("google", "ada")));
assert.equal(conflict.code, "PROVIDER_CONFLICT");
console.log(`AC3  the identity of another account: ${conflict.message}`);

const last = await refusal(eves.unlink("apple"));
assert.equal(last.code, "CANNOT_UNLINK_ONLY_PROVIDER");
console.log(`AC4  the only way to sign in: ${last.message}`);

const tablet = await signedIn("google", "ada");
assert.equal((await tablet.account()).user_id, (await phone.account()).user_id);
console.log("AC5  google on another device opens the same account");

for (const ledger of [phone, bens, eves, tablet]) await ledger.signOut();
