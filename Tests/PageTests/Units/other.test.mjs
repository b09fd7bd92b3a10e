// The session of the account that is to be combined: which requests have its token, and when it ends.

import assert from "node:assert/strict";
import test from "node:test";

const kept = new Map();
const listeners = [];
const element = () => ({
  append() {}, replaceChildren() {}, setAttribute() {}, addEventListener() {}, focus() {}, textContent: "",
});
const globals = {
  addEventListener: (_, listener) => listeners.push(listener),
  document: { createElement: element, getElementById: element, title: "" },
  sessionStorage: {
    getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text), removeItem: (key) => kept.delete(key),
  },
};
for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true });

const folder = "../../../Sources/CPageAssets";
const { keepIntent, page, takeIntent } = await import(`${folder}/account/page.mjs`);
const { end, open } = await import(`${folder}/account/other.mjs`);
for (const name of ["en", "en-more"]) Object.assign(page.t, (await import(`${folder}/texts/${name}.mjs`)).texts);

const token = "the other account's token";
const second = "v1/auth/second-factor";
const signOut = "v1/auth/sign-out";
const plan = {
  plan_digest: "d", expires_in: 900, moved: [], left_behind: [], choices: [], factors: [{ factor_id: "f", of: "absorbed" }],
};

/** Answers requests, and returns them; a page with a session has been asked to combine its account. */
function begin(t, answers = {}) {
  const requests = [];
  page.api.session = { user_id: "ada", csrf_token: "c" };
  page.account = { user_id: "ada", identities: [] };
  keepIntent({ action: "other" });
  t.mock.method(globalThis, "fetch", async (path, init) => {
    requests.push({ path, ...init, body: init.body && JSON.parse(init.body) });
    const [status, body] = {
      [second]: () => [201, { is_new_user: false, access_token: token }],
      "v1/account/factors": () => [200, { factors: [{ factor_id: "f", type: "totp" }] }],
      "v1/account": () => [200, { user_id: "ada", identities: [] }],
      "v1/account/merge/preview": () => [200, plan],
      [signOut]: () => [200, {}],
      ...answers,
    }[path]();
    return new Response(JSON.stringify(body), { status });
  });
  t.after(end);
  return requests;
}

const paths = (requests) => requests.map(({ path }) => path);

test("the token is in the requests of the merge alone, and its session ends with the page, once", async (t) => {
  const requests = begin(t);
  await open(second, { code: "1" });
  assert.deepEqual(paths(requests), [second, "v1/account/factors", "v1/account/merge/preview"]);
  const [opened, factors, preview] = requests;
  assert.deepEqual([opened.headers["Ledger-Beside"], opened.headers["Ledger-CSRF"], opened.body], ["yes", "c", { code: "1" }]);
  assert.equal(factors.headers.Authorization, `Bearer ${token}`);
  assert.deepEqual([preview.headers.Authorization, preview.headers["Ledger-Beside"]], [undefined, undefined]);
  assert.deepEqual(preview.body, { keep: {}, other_access_token: token });
  assert.ok(![...kept.values()].join().includes(token));
  for (const _ of [1, 2]) for (const listener of listeners) listener();
  assert.deepEqual(paths(requests).slice(3), [signOut]);
  assert.deepEqual([requests[3].headers.Authorization, requests[3].keepalive], [`Bearer ${token}`, true]);
});

test("a sign-in that was cancelled meanwhile ends at once", async (t) => {
  const requests = begin(t, { [second]: () => {
    takeIntent();
    return [201, { is_new_user: false, access_token: token }];
  } });
  await open(second, {});
  assert.deepEqual(paths(requests), [second, signOut]);
});

test("a page that another tab has signed in to another account combines nothing", async (t) => {
  const requests = begin(t);
  page.api.session = { user_id: "eve", csrf_token: "c" };
  await assert.rejects(open(second, {}), { code: "INVALID_ACCESS_TOKEN" });
  assert.deepEqual(requests, []);
});

test("a refused preview ends the session, and a lost one keeps it for another try", async (t) => {
  for (const [status, isEnded] of [[409, true], [500, false]]) {
    const requests = begin(t, { "v1/account/merge/preview": () => [status, { error: { code: "SAME_ACCOUNT" } }] });
    await open(second, {});
    assert.equal(paths(requests).includes(signOut), isEnded, `${status}`);
    end();
    t.mock.restoreAll();
  }
});
