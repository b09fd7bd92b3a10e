// A sign-in with a password that strangers have tried too often; the server trusts this machine as a proxy.

import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "./accounts.mjs";
import { newName, sentCode } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

const password = "correct horse battery staple";
const signInPath = "/v1/auth/sign-in/password";
/** The wrong passwords of an hour for an address, and of them those of one client network. */
const tries = { all: 100, network: 20 };

/** Opens an account with a password. */
async function signUp(email) {
  const { challenge_id } = await ask("POST", "/v1/auth/sign-up/password", { body: { email, password } });
  await ask("POST", signInPath, { body: { challenge_id, code: await sentCode(email) } });
}

/** Uses up the tries of an address, from networks of strangers. */
async function tryAll(email) {
  const body = JSON.stringify({ email, password: "not the right password" });
  for (let number = 0; number < tries.all; number += 10) {
    const network = `10.1.${Math.floor(number / tries.network)}.1`;
    const headers = { "Content-Type": "application/json", "X-Forwarded-For": network };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fetch(base + signInPath, { method: "POST", headers, body })));
    assert.deepEqual(answers.map(({ status }) => status), Array(10).fill(401), `try ${number}`);
  }
}

test("the page asks for a code beside a password that strangers have tried too often", () => withBrowser(async (open) => {
  const tab = await open();
  const email = `${newName()}@example.com`;
  await signUp(email);
  await tryAll(email);

  const signIn = async (typed) => {
    await tab.fill("E-mail address", email);
    await tab.fill("Password", typed);
    await tab.click("Sign in");
    await tab.sees("heading", "Enter the code");
  };
  const code = async () => {
    await tab.fill("Code", await sentCode(email));
    await tab.click("Continue");
  };
  await tab.open(`${base}/account`);
  await tab.click("Sign in with a password");
  await signIn("a wrong password");
  await tab.check("a code beside a password");
  await tab.fill("Code", "000000");
  await tab.click("Continue");
  await tab.says("The code is wrong or has expired.", "alert");
  await code();
  await tab.says("The e-mail address or the password is wrong.", "alert");
  await tab.sees("heading", "Sign in with a password");

  await signIn(password);
  await code();
  await tab.says("You are signed in.");
  assert.match((await tab.items("Linked accounts"))[0], new RegExp(email));
  const asked = tab.requests.filter(({ url }) => url.endsWith("/v1/auth/codes/password"));
  assert.equal(asked.length, 2, "one code for each time that the form was sent");
}));
