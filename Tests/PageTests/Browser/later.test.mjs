// A sign-up at a tenant that confirms addresses later.

import assert from "node:assert/strict";
import test from "node:test";
import { newName, sentCode } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

const password = "correct horse battery staple";

/** Signs up, up to the field for the code. */
async function signUp(tab, email) {
  await tab.open(`${base}/account`);
  await tab.click("Sign in with a password");
  await tab.click("Create an account with a password");
  await tab.fill("E-mail address", email);
  await tab.fill("New password", password);
  await tab.click("Send a code");
  await tab.sees("textbox", "Code");
}

test("an account is open before its address is confirmed", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const email = `${newName()}@example.com`;
    await signUp(tab, email);
    await tab.check("a code that confirms the address");
    await tab.click("Back");
    await tab.sees("heading", "Linked accounts");
    assert.match((await tab.items("Linked accounts"))[0], new RegExp(email));
    await tab.click("Sign out");

    // The same sign-up sends another code, which confirms the address.
    await sentCode(email);
    await signUp(tab, email);
    await tab.fill("Code", await sentCode(email));
    await tab.click("Continue");
    await tab.says("You are signed in.");
    await tab.click("Sign out");

    const other = `${newName()}@example.com`;
    await signUp(tab, other);
    await tab.fill("Code", await sentCode(other));
    await tab.click("Continue");
    await tab.says("You are signed in.");
    assert.equal((await tab.items("Linked accounts")).length, 1);
  }));
