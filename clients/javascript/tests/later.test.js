// A sign-up and a link whose address is confirmed later, at a tenant with that rule.

import assert from "node:assert/strict";
import test from "node:test";
import { AccountLedger } from "../account-ledger.js";
import { newName, refusal, sentCode, url } from "./support.js";

const password = "correct horse battery staple";

test("a sign-up opens the account, and its code confirms the address", async () => {
  const email = `${newName()}@example.com`;
  const ledger = new AccountLedger({ url });
  const session = await ledger.beginSignUp("password", { email, password });
  assert.ok("user_id" in session && session.challenge_id);
  assert.equal(session.is_new_user, true);
  assert.deepEqual(session.linked_providers, ["password"]);
  assert.equal(await ledger.userId(), session.user_id);
  assert.equal((await ledger.account()).identities[0]?.email_verified, false);

  const code = await sentCode(email);
  const confirmed = await ledger.signIn("password", { challenge_id: session.challenge_id, code });
  assert.equal(confirmed.user_id, session.user_id);
  assert.equal(confirmed.is_new_user, false);
  assert.equal(confirmed.challenge_id, undefined);
  assert.equal((await ledger.account()).identities[0]?.email_verified, true);

  const taken = await new AccountLedger({ url }).beginSignUp("password", { email, password: `${password} 2` });
  assert.deepEqual(Object.keys(taken).sort(), ["challenge_id", "expires_in"]);
});

test("a link of a password has the challenge of the code that confirms its address", async () => {
  const [proved, claimed] = [`${newName()}@example.com`, `${newName()}@example.com`];
  const ledger = new AccountLedger({ url });
  const { challenge_id } = await ledger.sendCode("email", { address: proved });
  const session = await ledger.signIn("email", { challenge_id, code: await sentCode(proved) });
  const linked = await ledger.link("password", { email: claimed, password });
  assert.deepEqual(linked.linked_providers, ["email", "password"]);
  assert.ok(linked.challenge_id);
  const code = await sentCode(claimed);
  const confirmed = await ledger.signIn("password", { challenge_id: linked.challenge_id, code });
  assert.equal(confirmed.user_id, session.user_id);

  const other = new AccountLedger({ url });
  await other.beginSignUp("password", { email: `${newName()}@example.com`, password });
  assert.equal((await refusal(other.link("password", { email: proved, password }))).code, "PROVIDER_CONFLICT");
});
