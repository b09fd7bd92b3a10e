// Renewal of access tokens by many calls and by several pages at a time.

import assert from "node:assert/strict";
import test from "node:test";
import { AccountLedger } from "../account-ledger.js";
import { openStore, proxy, refusal, signedIn } from "./support.js";

const calls = 20;

/** A person behind a proxy that counts. */
async function person(t, fault) {
  const front = await proxy(t, fault);
  const store = openStore();
  const { ledger, session } = await signedIn({ store, url: front.url });
  const refreshes = () => front.requests.filter((request) => request.url === "/v1/auth/refresh").length;
  return { ledger, session, store, front, refreshes };
}

test("20 calls with an expired token refresh it once", async (t) => {
  const { ledger, session, store, refreshes } = await person(t);
  const first = store.session;
  store.expire();
  const accounts = await Promise.all(Array.from({ length: calls }, () => ledger.account()));
  for (const account of accounts) assert.equal(account.user_id, session.user_id);
  assert.equal(refreshes(), 1);
  assert.notEqual(store.session.refresh_token, first.refresh_token);
  assert.notEqual(store.session.access_token, first.access_token);
});

test("20 calls with a token that the ledger refuses refresh it once", async (t) => {
  const { ledger, store, refreshes } = await person(t);
  store.session = { ...store.session, access_token: store.session.access_token.slice(0, -8) };
  await Promise.all(Array.from({ length: calls }, () => ledger.account()));
  assert.equal(refreshes(), 1);
});

test("each refresh uses the newest refresh token", async (t) => {
  const { ledger, store, refreshes } = await person(t);
  const tokens = new Set([store.session.refresh_token]);
  for (let round = 0; round < 5; round++) {
    store.expire();
    await ledger.accessToken();
    tokens.add(store.session.refresh_token);
  }
  assert.equal(tokens.size, 6);
  assert.equal(refreshes(), 5);
});

test("two pages with one store keep the session", async (t) => {
  const { ledger, store, front } = await person(t);
  const page = new AccountLedger({ url: front.url, store });
  for (let round = 0; round < 3; round++) {
    store.expire();
    await Promise.all([ledger.account(), page.account(), ledger.account(), page.account()]);
  }
  store.expire();
  await page.account();
});

test("two pages that exclude each other refresh once", async (t) => {
  const { store, front, refreshes } = await person(t);
  let last = Promise.resolve();
  const exclusively = (work) => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const shared = { ...store, exclusively };
  const pages = [1, 2, 3].map(() => new AccountLedger({ url: front.url, store: shared }));
  shared.expire();
  await Promise.all(pages.map((page) => page.account()));
  assert.equal(refreshes(), 1);
});

test("a session that has ended is forgotten", async (t) => {
  const { ledger, store, front } = await person(t);
  const page = new AccountLedger({ url: front.url, store: { ...store } });
  await ledger.signOut();
  const errors = await Promise.all(Array.from({ length: calls }, () => refusal(page.account())));
  for (const error of errors) assert.ok(["INVALID_REFRESH_TOKEN", "NO_SESSION"].includes(error.code), error.code);
  assert.equal(await page.userId(), null);
});

test("a refresh does not bring back who signed out or replaced the session meanwhile", async (t) => {
  let during = async () => {};
  let release = () => {};
  const { ledger, store } = await person(t, (request) => {
    if (request.url === "/v1/auth/refresh") during().then(release);
    return undefined;
  });
  /** Changes the store while a refresh is in flight. */
  const meanwhile = async (change) => {
    store.expire();
    const changed = new Promise((resolve) => { release = resolve; });
    during = async () => { store.session = change; };
    const error = await refusal(ledger.account());
    await changed;
    during = async () => {};
    return error;
  };
  const former = store.session;
  assert.equal((await meanwhile(null)).code, "NO_SESSION");
  assert.equal(store.session, null);

  const other = openStore();
  await signedIn({ store: other });
  store.session = former;
  await ledger.refresh();
  assert.equal((await meanwhile(other.session)).code, "NO_SESSION");
  assert.equal(store.session, other.session);
});

test("a refresh does not overwrite a sign-in between its load and its save", async () => {
  const tokens = (user, number) => ({
    user_id: user, access_token: `access ${number}`, refresh_token: `refresh ${number}`, expires_in: 600,
  });
  let stored = { ...tokens("ada", 1), expires_at: 0 };
  let signIn = Promise.resolve();
  let saved = () => {};
  let loads = 0;
  const store = {
    async load() {
      const found = stored;
      // The third load is the one before the refreshed session is saved.
      if (++loads === 3) {
        const isSaved = new Promise((resolve) => { saved = resolve; });
        signIn = ledger.signIn("apple", { id_token: "x" });
        await Promise.race([isSaved, settled()]);
      }
      return found;
    },
    async save(session) {
      stored = session;
      saved();
    },
    async clear() { stored = null; },
  };
  const ledger = new AccountLedger({
    url: "http://ledger.example", store, fetch: async (address) => {
      const answer = address.endsWith("/refresh") ? tokens("ada", 2) : tokens("bob", 3);
      return { status: 200, headers: new Headers(), text: async () => JSON.stringify(answer) };
    },
  });
  await ledger.refresh();
  await signIn;
  assert.equal(stored.user_id, "bob");
});

/** Whatever needs no time has happened. */
function settled() {
  return new Promise((resolve) => { setImmediate(resolve); });
}

test("an aborted call leaves the refresh to the others", async (t) => {
  const controller = new AbortController();
  const { ledger, store, refreshes } = await person(t, (request) => {
    if (request.url === "/v1/auth/refresh") controller.abort();
    return undefined;
  });
  store.expire();
  const [aborted, account] = await Promise.allSettled([
    ledger.account({ signal: controller.signal }), ledger.account(),
  ]);
  assert.equal(aborted.reason?.code, "ABORTED");
  assert.equal(account.status, "fulfilled");
  assert.equal(refreshes(), 1);
});
