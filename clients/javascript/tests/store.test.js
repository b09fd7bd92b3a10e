// Stores that fail, and sign-outs while another session takes the place of theirs.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";
import { AccountLedger } from "../account-ledger.js";
import { newName, openStore, proof, refusal, signedIn, url } from "./support.js";

/** A store whose operations of the names in `failing` throw. */
function fragileStore() {
  const store = { ...openStore(), failing: new Set() };
  for (const name of ["load", "save", "clear"]) {
    const work = store[name];
    store[name] = function operate(...values) {
      if (this.failing.has(name)) throw new RangeError(`no ${name}`);
      return work.apply(this, values);
    };
  }
  return store;
}

/** A client with such a store, and the errors that it has reported. */
function fragile() {
  const store = fragileStore();
  const errors = [];
  const onStoreError = ({ code, cause }) => errors.push(`${code} ${cause.message}`);
  return { store, errors, ledger: new AccountLedger({ url, store, onStoreError }) };
}

/** The code of an authenticator app at the present time (RFC 6238). */
function appCode(secret) {
  const bits = [...secret].map((each) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each).toString(2).padStart(5, "0"));
  const key = Buffer.from(bits.join("").match(/.{8}/g).map((each) => parseInt(each, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac("sha1", key).update(step).digest();
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

test("a session that the store does not take lives in memory, and a later call saves it", async () => {
  const { store, errors, ledger } = fragile();
  store.failing.add("save");
  const guest = await ledger.signIn("anonymous", {});
  assert.ok(guest.anonymous_secret, "it is returned only once");
  assert.deepEqual(errors, ["STORE_FAILED no save"]);
  assert.equal(store.session, null);
  assert.equal(await ledger.userId(), guest.user_id);
  // A refresh token that was lost would be used twice, which ends the session.
  await ledger.refresh();
  await ledger.refresh();
  await ledger.account();
  assert.equal(errors.length, 3);
  store.failing.clear();
  await ledger.account();
  assert.equal(store.session?.user_id, guest.user_id);
  await new AccountLedger({ url, store }).refresh();
  await ledger.account();
});

test("a renewed session that the store does not take is used in place of the stored one", async () => {
  const { store, errors, ledger } = fragile();
  await ledger.signIn("apple", await proof("apple", newName()));
  const stored = store.session;
  store.failing.add("save");
  for (let round = 0; round < 3; round++) await ledger.refresh();
  assert.equal(store.session, stored);
  assert.equal(errors.length, 3);
  await ledger.account();
  // A session that another page has saved since is newer.
  const other = openStore();
  const { session } = await signedIn({ store: other });
  store.session = other.session;
  assert.equal(await ledger.userId(), session.user_id);
  await ledger.account();
});

test("the recovery codes of a first factor are returned also when the store fails", async () => {
  const { store, errors, ledger } = fragile();
  await ledger.signIn("apple", await proof("apple", newName()));
  store.failing.add("save");
  const { enrolment_token, secret } = await ledger.beginFactor({ type: "totp" });
  const { recovery_codes } = await ledger.enrolFactor({ enrolment_token, code: appCode(secret) });
  assert.equal(recovery_codes?.length, 10);
  assert.deepEqual(errors, ["STORE_FAILED no save"]);
  // The first factor has ended the session that is stored.
  assert.equal((await ledger.factors()).factors.length, 2);
  await ledger.signOut();
  assert.equal(await ledger.userId(), null);
});

test("the session of a first factor replaces none of another account that signed in meanwhile", async () => {
  const store = openStore();
  const { name } = await signedIn({ store });
  const page = new AccountLedger({ url, store });
  let other;
  const ledger = new AccountLedger({
    url, store, fetch: async (address, init) => {
      const answer = await fetch(address, init);
      if (address.endsWith("/account/factors")) other = await page.signIn("google", await proof("google", newName()));
      return answer;
    },
  });
  const { enrolment_token, secret } = await ledger.beginFactor({ type: "totp" });
  const { recovery_codes } = await ledger.enrolFactor({ enrolment_token, code: appCode(secret) });
  assert.equal(recovery_codes?.length, 10, `${name} has them once`);
  assert.equal(store.session?.user_id, other.user_id);
  assert.equal((await page.account()).user_id, other.user_id);
});

test("a store that cannot be read, cleared or locked is the client's error", async () => {
  const { store, errors, ledger } = fragile();
  const name = newName();
  await ledger.signIn("apple", await proof("apple", name));
  store.failing.add("load");
  for (const call of [ledger.account(), ledger.userId(), ledger.refresh(), ledger.accessToken(), ledger.signOut()]) {
    const { code, cause } = await refusal(call);
    assert.equal(`${code} ${cause.message}`, "STORE_FAILED no load");
  }
  // A sign-in replaces an unreadable session.
  await ledger.signIn("apple", await proof("apple", name, newName()));
  store.failing.clear();
  await ledger.account();

  const locked = new AccountLedger({ url, store: { ...store, exclusively: () => { throw new RangeError("no lock"); } } });
  assert.equal((await refusal(locked.refresh())).code, "STORE_FAILED");
  store.failing.add("clear");
  assert.equal((await refusal(ledger.signOut())).code, "STORE_FAILED");
  assert.deepEqual(errors, []);
  assert.equal((await refusal(ledger.account())).code, "INVALID_REFRESH_TOKEN");
  assert.deepEqual(errors, ["STORE_FAILED no clear"]);
});

/**
 * A client whose answers to sign-outs are lost after the ledger has acted: the first one, or with `isEnd` all of them.
 * With `isRefused` the first one is refused and none is lost. Meanwhile the same person signs in again in another page
 * with the same store.
 */
async function replaced({ isEnd = false, isRefused = false } = {}) {
  const store = openStore();
  const { ledger: page, name } = await signedIn({ store });
  const sent = [];
  const ledger = new AccountLedger({
    url, store, timeout: 5_000, fetch: async (address, init) => {
      const isSignOut = address.endsWith("/sign-out");
      const answer = isSignOut && isRefused
        ? new Response('{"error":{"code":"INVALID_ACCESS_TOKEN","message":"refused"}}', { status: 401 })
        : await fetch(address, init);
      if (!isSignOut) return answer;
      sent.push(init.headers.get("Authorization"));
      if (sent.length === 1) await page.signIn("apple", await proof("apple", name, newName()));
      else if (!isEnd) return answer;
      if (isRefused) return answer;
      throw new TypeError("lost");
    },
  });
  return { ledger, page, store, sent, first: store.session };
}

test("a sign-out whose answer is lost ends no later session", async () => {
  const { ledger, page, store, sent, first } = await replaced();
  await ledger.signOut();
  assert.deepEqual(new Set(sent), new Set([`Bearer ${first.access_token}`]));
  assert.equal(sent.length, 2);
  assert.ok(store.session && store.session.refresh_token !== first.refresh_token);
  await page.account();
  await page.refresh();
});

test("a sign-out everywhere says when another session has taken the place of its own", async () => {
  const { ledger, page, store, sent } = await replaced({ isRefused: true });
  assert.equal((await refusal(ledger.signOut({ everywhere: true }))).code, "NO_SESSION");
  assert.equal(sent.length, 1);
  assert.ok(store.session);
  await page.account();
});

test("a sign-out everywhere whose answer is lost is done, and ends no later session", async () => {
  const { ledger, page, store, sent, first } = await replaced();
  await ledger.signOut({ everywhere: true });
  assert.equal(sent.length, 2);
  assert.ok(store.session && store.session.refresh_token !== first.refresh_token);
  await page.account();
});

test("a sign-out that fails leaves a later session in the store", async () => {
  const { ledger, page, store, first } = await replaced({ isEnd: true });
  assert.equal((await refusal(ledger.signOut())).code, "NO_ANSWER");
  assert.ok(store.session && store.session.refresh_token !== first.refresh_token);
  await page.account();
});

test("a sign-out clears its session also when another page has renewed it meanwhile", async () => {
  const store = openStore();
  const { ledger: page } = await signedIn({ store });
  const ledger = new AccountLedger({
    url, store, fetch: async (address, init) => {
      await page.refresh();
      return fetch(address, init);
    },
  });
  await ledger.signOut();
  assert.equal(store.session, null);
});

test("two sign-outs of one session at a time are one", async () => {
  const store = openStore();
  const { ledger, page = new AccountLedger({ url, store }) } = await signedIn({ store });
  await Promise.all([ledger.signOut(), page.signOut()]);
  assert.equal(store.session, null);
});
