// Lost answers, faults with Retry-After, limits of time and aborted calls, by a proxy in front of the server.

import assert from "node:assert/strict";
import test from "node:test";
import { AccountLedger } from "../account-ledger.js";
import { events, idToken, newName, openStore, proof, proxy, refusal, signedIn, url } from "./support.js";

const unavailable = (seconds) => ({
  status: 503, headers: { "Content-Type": "application/json", ...(seconds !== undefined && { "Retry-After": seconds }) },
  body: '{"error":{"code":"UNAVAILABLE","message":"The service is temporarily unavailable"}}',
});

/** A client behind a proxy, for a person who has just signed in without it. */
async function behind(t, fault, options = {}) {
  const store = openStore();
  const person = await signedIn({ store });
  const front = await proxy(t, fault);
  return { ...person, store, front, ledger: new AccountLedger({ url: front.url, store, ...options }) };
}

test("a command whose answer is lost is repeated and acts once", async (t) => {
  const { ledger, name, session, front } = await behind(t, (_, number) => (number % 2 ? "lose" : undefined));
  await ledger.link("google", await proof("google", name));
  await ledger.unlink("google");
  assert.deepEqual((await ledger.account()).linked_providers, ["apple"]);

  const other = newName();
  await new AccountLedger({ url }).signIn("google", await proof("google", other));
  const plan = await ledger.previewMerge({ provider: "google", ...await proof("google", other) });
  const merged = await ledger.merge({
    provider: "google", plan_digest: plan.plan_digest, id_token: await idToken("google", other, plan.plan_digest),
  });
  assert.deepEqual(merged.linked_providers, ["apple", "google"]);

  const types = (await events(session.user_id)).map((event) => event.entry.type).sort();
  assert.deepEqual(types.filter((type) => type !== "SignedIn"),
    ["AccountOpened", "AccountsMerged", "ProviderLinked", "ProviderLinked", "ProviderUnlinked"]);
  assert.equal(front.requests.length, 10);
  const pairs = [0, 2, 4, 6, 8].map((first) => front.requests.slice(first, first + 2));
  for (const [lost, repeated] of pairs) {
    for (const field of ["idempotency-key", "x-request-id", "authorization"]) {
      assert.equal(lost.headers[field], repeated.headers[field]);
    }
  }
  const keys = front.requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(new Set(keys.filter(Boolean)).size, 3);
});

test("a sign-in is not repeated, because its second answer would say that the account is known", async (t) => {
  const front = await proxy(t, () => "lose");
  const ledger = new AccountLedger({ url: front.url });
  assert.equal((await refusal(ledger.signIn("apple", await proof("apple", newName())))).code, "NO_ANSWER");
  assert.equal(front.requests.length, 1);
  // The ledger refuses a key here.
  assert.equal(front.requests[0].headers["idempotency-key"], undefined);
});

test("a refresh whose answer is lost is repeated and yields the same successor", async (t) => {
  const { ledger, store, front } = await behind(t, ({ url: path }, number) => (
    path === "/v1/auth/refresh" && number < 3 ? "lose" : undefined));
  await ledger.refresh();
  store.expire();
  await ledger.account();
  assert.equal(front.requests.length, 5);
});

test("503 and 429 are repeated after Retry-After, and other faults are not", async (t) => {
  const answers = [unavailable("1"), { ...unavailable(new Date(Date.now() - 1_000).toUTCString()), status: 429 }];
  const { ledger, front } = await behind(t, (_, number) => answers[number - 1]);
  await ledger.account();
  const [first, second] = front.requests;
  assert.equal(front.requests.length, 3);
  assert.ok(second.at - first.at >= 999, `${second.at - first.at}`);

  const failing = await behind(t, () => ({ ...unavailable(), status: 500 }));
  const fault = await refusal(failing.ledger.account());
  assert.equal(fault.status, 500);
  assert.equal(failing.front.requests.length, 1);
});

test("repetitions end, and an error says when to try again", async (t) => {
  const endless = await behind(t, () => unavailable());
  const error = await refusal(endless.ledger.account());
  assert.equal(error.code, "UNAVAILABLE");
  assert.equal(error.status, 503);
  assert.equal(endless.front.requests.length, 4);

  const later = await behind(t, () => ({ ...unavailable("3600"), status: 429 }));
  const limited = await refusal(later.ledger.account());
  assert.equal(limited.retryAfter, 3600);
  assert.equal(later.front.requests.length, 1);
});

test("an answer that is not the ledger's is an error", async (t) => {
  const page = { status: 200, headers: { "Content-Type": "text/html" }, body: "<p>Welcome to the hotel" };
  const { ledger } = await behind(t, () => page);
  assert.equal((await refusal(ledger.account())).code, "UNEXPECTED_ANSWER");
  const redirected = await behind(t, () => ({ status: 302, headers: { Location: url }, body: "" }), { timeout: 100 });
  assert.equal((await refusal(redirected.ledger.account())).code, "NO_ANSWER");
});

test("a call ends when its time is over", async (t) => {
  const { ledger, front } = await behind(t, () => "hang", { timeout: 100 });
  const error = await refusal(ledger.account());
  assert.equal(error.code, "NO_ANSWER");
  assert.equal(error.status, 0);
  assert.equal(error.requestId, front.requests[0]?.headers["x-request-id"]);
  assert.equal((await refusal(ledger.account({ timeout: 1 }))).code, "NO_ANSWER");
});

test("a call may take any time", async (t) => {
  for (const timeout of [Infinity, 2 ** 40]) {
    const { ledger } = await behind(t, (_, number) => (number === 1 ? unavailable() : undefined), { timeout });
    assert.ok(await ledger.account());
  }
});

test("a call ends when it is aborted: before it, during a request, between two", async (t) => {
  const during = new AbortController();
  const { ledger, store, front } = await behind(t, () => {
    during.abort();
    return "hang";
  });
  const start = performance.now();
  const error = await refusal(ledger.account({ signal: during.signal }));
  assert.equal(error.code, "ABORTED");
  assert.equal(error.cause, during.signal.reason);
  assert.equal(front.requests.length, 1);
  const before = await refusal(ledger.account({ signal: AbortSignal.abort("changed my mind") }));
  assert.equal(before.code, "ABORTED");
  assert.equal(before.cause, "changed my mind");
  assert.equal(front.requests.length, 1);

  const between = new AbortController();
  let requests = 0;
  const waiting = new AccountLedger({
    url, store, fetch: async () => {
      requests++;
      // After the client has read the answer and begun to wait.
      setImmediate(() => between.abort());
      return { status: 503, headers: new Headers({ "Retry-After": "20" }), text: async () => "" };
    },
  });
  assert.equal((await refusal(waiting.account({ signal: between.signal }))).code, "ABORTED");
  assert.ok(performance.now() - start < 9_000, "earlier than an answer is given up, or Retry-After");
  assert.equal(requests, 1);
  assert.ok(store.session);
});

test("signing out clears the store when the ledger cannot be reached", async (t) => {
  const { ledger, store } = await behind(t, () => "lose", { timeout: 300 });
  assert.equal((await refusal(ledger.signOut())).code, "NO_ANSWER");
  assert.equal(store.session, null);
});

test("signing out everywhere twice, because the answer was lost, is signing out", async (t) => {
  const { ledger, store, front } = await behind(t, (_, number) => (number === 1 ? "lose" : undefined));
  await ledger.signOut({ everywhere: true });
  assert.equal(store.session, null);
  assert.ok(front.requests.length > 1);
});

test("a session that ended before cannot end the others, also if the answer to its refresh is lost", async (t) => {
  for (const isExpired of [false, true]) {
    const isLost = ({ url: path }, number) => path.endsWith("/refresh") && number < 2 + !isExpired;
    const { ledger, store, front } = await behind(t, (request, number) => (isLost(request, number) ? "lose" : undefined));
    await new AccountLedger({ url, store: { ...openStore(), session: store.session } }).signOut();
    if (isExpired) store.expire();
    assert.equal((await refusal(ledger.signOut({ everywhere: true }))).code, "INVALID_REFRESH_TOKEN");
    assert.equal(front.requests.filter(({ url: path }) => path.endsWith("/refresh")).length, 2);
    assert.equal(store.session, null);
  }
});

test("signing out twice, because the answer was lost, is signing out", async (t) => {
  const { ledger, store, front } = await behind(t, (_, number) => (number === 1 ? "lose" : undefined));
  await ledger.signOut();
  assert.equal(store.session, null);
  assert.ok(front.requests.length > 1);
});
