// One person's ways through the API.

import assert from "node:assert/strict";
import test from "node:test";
import { AccountLedger, AccountLedgerSupport } from "../account-ledger.js";
import {
  enrolled, idToken, newName, openStore, otherSupportKey, proof, refusal, signedIn, supportKey, url,
} from "./support.js";

test("a person signs in, links, unlinks and signs out", async () => {
  const { ledger, name, session } = await signedIn();
  assert.equal(session.is_new_user, true);
  assert.deepEqual(session.linked_providers, ["apple"]);
  assert.deepEqual(Object.keys(session).sort(), ["is_new_user", "linked_providers", "user_id"]);
  assert.equal(await ledger.userId(), session.user_id);

  const linked = await ledger.link("google", await proof("google", name));
  assert.deepEqual(linked.linked_providers, ["apple", "google"]);
  assert.equal(linked.message, "Google account linked successfully");
  const account = await ledger.account();
  assert.equal(account.user_id, session.user_id);
  assert.deepEqual(account.identities.map((identity) => identity.provider), ["apple", "google"]);

  const tablet = new AccountLedger({ url });
  const again = await tablet.signIn("google", await proof("google", name));
  assert.equal(again.user_id, session.user_id);
  assert.equal(again.is_new_user, false);

  const identity_id = account.identities[1]?.identity_id;
  const unlinked = await ledger.unlink("google", { identity_id });
  assert.deepEqual(unlinked.linked_providers, ["apple"]);
  // The unlink has ended the session that Google's identity opened.
  const ended = await refusal(tablet.account());
  assert.equal(ended.code, "INVALID_REFRESH_TOKEN");
  assert.equal(await tablet.userId(), null);

  const recent = await ledger.activity({ limit: 2 });
  assert.deepEqual(recent.activity.map((row) => `${row.kind} ${row.provider}`), ["unlinked google", "signed_in google"]);
  const earlier = await ledger.activity({ before: recent.next });
  assert.deepEqual(earlier.activity.map((row) => row.kind), ["linked", "signed_in", "linked", "opened"]);

  await ledger.signOut();
  assert.equal(await ledger.userId(), null);
  assert.equal((await refusal(ledger.account())).code, "NO_SESSION");
  await ledger.signOut();
});

test("an anonymous account becomes a real one with its first link", async () => {
  const ledger = new AccountLedger({ url });
  const name = newName();
  const { anonymous_secret, ...session } = await ledger.signIn("anonymous", {});
  assert.deepEqual(session, {
    user_id: session.user_id, is_new_user: true, linked_providers: ["anonymous"],
  });
  const again = await new AccountLedger({ url }).signIn("anonymous", { anonymous_secret });
  assert.deepEqual(again, {
    user_id: session.user_id, is_new_user: false, linked_providers: ["anonymous"],
  });
  const linked = await ledger.link("google", await proof("google", name));
  assert.deepEqual(linked.linked_providers, ["google"]);
  await ledger.refresh();
  assert.equal(await ledger.userId(), session.user_id);
  const ended = await refusal(new AccountLedger({ url }).signIn("anonymous", { anonymous_secret }));
  assert.equal(ended.code, "ACCOUNT_NOT_FOUND");
});

test("a refused sign-in opens no account", async () => {
  const ledger = new AccountLedger({ url });
  const unknown = await refusal(
    ledger.signIn("apple", { ...await proof("apple", newName()), create_account: false }));
  assert.equal(unknown.code, "ACCOUNT_NOT_FOUND");
  assert.equal(unknown.status, 404);
  const invalid = await refusal(ledger.signIn("apple", { id_token: "e30.e30.e30" }));
  assert.equal(invalid.code, "INVALID_PROVIDER_TOKEN");
  const unsupported = await refusal(ledger.signIn("unknown", { id_token: "x" }));
  assert.equal(unsupported.code, "UNSUPPORTED_PROVIDER");
  assert.equal(await ledger.userId(), null);
});

test("an error has code, status, message, details and the request's name", async () => {
  const { ledger } = await signedIn();
  const error = await refusal(ledger.link("google", { id_token: "" }));
  assert.equal(error.name, "AccountLedgerError");
  assert.equal(error.code, "INVALID_REQUEST");
  assert.equal(error.status, 400);
  assert.equal(error.message, "id_token is required");
  assert.deepEqual(error.details, { field: "id_token" });
  assert.match(error.requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(error.retryAfter, undefined);
  const only = await refusal(ledger.unlink("apple"));
  assert.equal(only.code, "CANNOT_UNLINK_ONLY_PROVIDER");
});

test("a conflict, a merge, and its undoing by support", async () => {
  const { ledger, session } = await signedIn();
  const name = newName();
  const other = await new AccountLedger({ url }).signIn("google", await proof("google", name));

  const conflict = await refusal(ledger.link("google", await proof("google", name)));
  assert.equal(conflict.code, "PROVIDER_CONFLICT");
  assert.equal(conflict.status, 409);

  const plan = await ledger.previewMerge({ provider: "google", ...await proof("google", name) });
  assert.equal(plan.absorbed_user_id, other.user_id);
  assert.deepEqual(plan.moved.map((identity) => identity.provider), ["google"]);
  // An ID token from before the preview does not confirm the plan.
  const early = { provider: "google", ...await proof("google", name), plan_digest: plan.plan_digest };
  assert.equal((await refusal(ledger.merge(early))).code, "INVALID_PROVIDER_TOKEN");
  const merged = await ledger.merge({
    provider: "google", plan_digest: plan.plan_digest, id_token: await idToken("google", name, plan.plan_digest),
  });
  assert.equal(merged.user_id, session.user_id);
  assert.deepEqual(merged.linked_providers, ["apple", "google"]);

  const support = new AccountLedgerSupport({ url, apiKey: supportKey });
  const reason = "the person asked";
  const undo = await support.previewUndo(merged.merge, { reason });
  assert.deepEqual(undo.accounts.map((account) => account.user_id), [session.user_id, other.user_id]);
  const undone = await support.undoMerge(merged.merge, { reason, case: "T-1" });
  assert.ok(undone.unmerge);
  const superseded = await refusal(support.undoMerge(merged.merge, { reason, case: "T-1" }));
  assert.equal(superseded.code, "MERGE_SUPERSEDED");
  assert.deepEqual(superseded.details, { reason: "not_active" });
  assert.deepEqual((await ledger.account()).linked_providers, ["apple"]);
});

test("an account with a second factor is merged by its holder, who is signed in to both", async () => {
  const store = openStore();
  const { ledger, name, session } = await signedIn({ store });
  const otherName = newName();
  const other = new AccountLedger({ url });
  await other.signIn("google", await proof("google", otherName));
  const { factor_id, recovery_codes } = await enrolled(other);
  const alone = await refusal(ledger.previewMerge({ provider: "google", ...await proof("google", otherName) }));
  assert.equal(alone.code, "SECOND_FACTOR_ENROLLED");
  const other_access_token = await other.accessToken();
  const plan = await ledger.previewMerge({ other_access_token });
  assert.deepEqual(plan.factors, [{ factor_id, of: "absorbed" }]);
  const agreement = { other_access_token, plan_digest: plan.plan_digest };
  const idempotencyKey = "both";
  const merged = await ledger.merge(agreement, { idempotencyKey });
  assert.equal(merged.user_id, session.user_id);
  // The session began without a second factor.
  assert.equal(await ledger.userId(), null);
  assert.equal(store.session, null);
  assert.equal((await refusal(other.account())).code, "INVALID_REFRESH_TOKEN");
  const needed = await refusal(ledger.signIn("apple", await proof("apple", name)));
  assert.equal(needed.code, "SECOND_FACTOR_REQUIRED");
  const { sign_in_token, factors } = needed.details;
  const codes = factors.find(({ type }) => type === "recovery_codes");
  const again = await ledger.finishSignIn({ sign_in_token, factor_id: codes.factor_id, code: recovery_codes[0] });
  assert.equal(again.user_id, session.user_id);
  // A merge that is repeated does not end a later session.
  assert.equal((await ledger.merge(agreement, { idempotencyKey })).merge, merged.merge);
  assert.equal(await ledger.userId(), session.user_id);
  assert.ok(await ledger.account());
});

test("two persons of support merge accounts with a second factor", async () => {
  const { session } = await signedIn();
  const other = new AccountLedger({ url });
  const { user_id } = await other.signIn("google", await proof("google", newName()));
  const { factor_id } = await enrolled(other);
  const [sam, kim] = [supportKey, otherSupportKey].map((apiKey) => new AccountLedgerSupport({ url, apiKey }));
  const why = { absorb: user_id, reason: "the person asked" };
  const plan = await sam.previewMerge(session.user_id, why);
  assert.equal(plan.needs_two, true);
  const agreement = { ...why, case: "T-1", plan_digest: plan.plan_digest };
  const { merge_request, expires_in } = await sam.mergeAccounts(session.user_id, agreement);
  assert.equal(expires_in, 3600);
  const same = await refusal(sam.mergeAccounts(session.user_id, { ...agreement, merge_request }));
  assert.equal(same.code, "SECOND_PERSON_REQUIRED");
  const shown = await kim.previewMerge(session.user_id, { ...why, merge_request });
  assert.ok(shown.asked_by);
  const merged = await kim.mergeAccounts(session.user_id, { ...agreement, plan_digest: shown.plan_digest, merge_request });
  assert.deepEqual(merged.factors, [{ factor_id, of: "absorbed" }]);
});

test("signing out everywhere ends other sessions", async () => {
  const { ledger, name } = await signedIn();
  const tablet = new AccountLedger({ url });
  await tablet.signIn("apple", await proof("apple", name));
  await ledger.signOut({ everywhere: true });
  assert.equal((await refusal(tablet.account())).code, "INVALID_REFRESH_TOKEN");
});

test("a tenant of the path", async () => {
  const ledger = new AccountLedger({ url: `${url}/`, tenant: "default" });
  await ledger.signIn("apple", await proof("apple", newName()));
  assert.ok(await ledger.account());
  const nowhere = new AccountLedger({ url, tenant: "nowhere" });
  assert.equal((await refusal(nowhere.signIn("apple", { id_token: "x" }))).code, "NOT_FOUND");
  for (const wrong of ["http://user:secret@127.0.0.1", `${url}?tenant=a`, `${url}#a`]) {
    assert.throws(() => new AccountLedger({ url: wrong }), (error) => !String(error).includes("secret"));
  }
  for (const step of [".", ".."]) {
    assert.throws(() => new AccountLedger({ url, tenant: step }), { code: "INVALID_REQUEST" });
    assert.equal((await refusal(ledger.unlink(step))).code, "INVALID_REQUEST");
  }
});

test("no error holds a token", async () => {
  const store = openStore();
  const { ledger, name } = await signedIn({ store });
  const { access_token, refresh_token } = store.session;
  const id_token = await idToken("google", name);
  const errors = [
    await refusal(ledger.link("unknown", { id_token })),
    await refusal(new AccountLedger({ url: "http://127.0.0.1:1", store, timeout: 100 }).account()),
  ];
  store.session = { ...store.session, access_token: `${access_token}\n${access_token}` };
  errors.push(await refusal(ledger.account()));
  assert.equal(errors[2]?.code, "INVALID_REQUEST");
  store.session = { ...store.session, access_token, refresh_token: `${refresh_token}x`, expires_at: 0 };
  errors.push(await refusal(ledger.account()));
  assert.equal(errors[3]?.code, "INVALID_REFRESH_TOKEN");
  const { inspect } = await import("node:util");
  for (const error of errors) {
    const text = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
    for (const secret of [access_token, refresh_token, id_token]) assert.ok(!text.includes(secret), text);
  }
  const held = await signedIn();
  assert.doesNotMatch(inspect(held.ledger, { depth: 9, showHidden: true }), /eyJ/);
});
