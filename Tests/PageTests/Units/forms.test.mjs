// The code beside a password: when it is asked for, and what follows a wrong password that has used it up.

import assert from "node:assert/strict";
import test from "node:test";

let submit = () => {};
const element = () => ({
  append() {}, replaceChildren() {}, setAttribute() {}, getAttribute: () => null, removeAttribute() {}, focus() {},
  addEventListener: (event, listener) => { if (event === "submit") submit = listener; },
  textContent: "", value: "typed",
});
const globals = {
  document: { createElement: element, getElementById: element, title: "" },
  sessionStorage: { getItem: () => null, setItem() {}, removeItem() {} },
};
for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true });

const folder = "../../../Sources/CPageAssets";
const { page } = await import(`${folder}/account/page.mjs`);
const { showPasswordForm } = await import(`${folder}/account/forms.mjs`);
for (const name of ["en", "en-more"]) Object.assign(page.t, (await import(`${folder}/texts/${name}.mjs`)).texts);

/** Sends the form in the view, and waits until another view has taken its place. */
async function send(title) {
  submit({ preventDefault() {} });
  for (let turns = 0; turns < 1_000 && document.title !== title; turns += 1) {
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  assert.equal(document.title, title);
}

test("a code goes with the password that was typed, and a wrong password asks for both again", async (t) => {
  const requests = [];
  const answers = [
    [429, { error: { code: "RATE_LIMITED", details: { needs: "code" } } }],
    [200, { challenge_id: "c", expires_in: 600 }],
    [401, { error: { code: "INVALID_PASSWORD" } }],
  ];
  t.mock.method(globalThis, "fetch", async (path, { body }) => {
    requests.push([path, JSON.parse(body)]);
    const [status, answer] = answers[requests.length - 1];
    return new Response(JSON.stringify(answer), { status });
  });
  showPasswordForm("password");
  assert.equal(document.title, page.t.signInWithPassword);
  await send(page.t.enterCode);
  await send(page.t.signInWithPassword);
  const proof = { email: "typed", password: "typed" };
  assert.deepEqual(requests, [
    ["v1/auth/sign-in/password", { ...proof, create_account: true }],
    ["v1/auth/codes/password", { address: "typed" }],
    ["v1/auth/sign-in/password", { ...proof, challenge_id: "c", code: "typed", create_account: true }],
  ]);
});
