// Combining accounts of which the other one has a second factor: the person signs in to both on one page.

import assert from "node:assert/strict";
import test from "node:test";
import { appCode, enrolApp, newName, sentCode, signIn, signInAt } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

const inUse = "This account is already in use";
const signInOther = "Sign in to the other account";

/** Enters a code, or in its place a recovery code. */
async function passSecondStep(tab, { code, recoveryCode }) {
  await tab.sees("heading", "Second step");
  if (recoveryCode) await tab.click("Use instead: Recovery codes");
  await tab.fill(recoveryCode ? "Recovery code" : "Code", recoveryCode ?? code);
  await tab.click("Continue");
}

/** Waits until the view has each of some texts. */
async function shows(tab, ...texts) {
  for (const text of texts) await tab.wait(`document.querySelector("main").innerText.includes(${JSON.stringify(text)})`);
}

/** Waits until the page has ended a number of sessions of other accounts. */
async function hasEnded(tab, count) {
  const isSignOut = ({ url, status }) => url.endsWith("/v1/auth/sign-out") && status === 200;
  while (tab.responses.filter(isSignOut).length < count) await tab.evaluate("new Promise((resolve) => { setTimeout(resolve, 10); })");
  assert.equal(tab.requests.filter(({ url }) => url.endsWith("/v1/auth/sign-out")).length, count);
}

/** Checks that no answer had a refresh token, and that the browser keeps none of another kind. */
async function keepsNoToken(tab) {
  for (const text of await tab.bodies()) assert.ok(!text.includes("refresh_token"));
  const kept = await tab.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  assert.ok(!kept.includes("eyJ"), kept);
}

test("two accounts with second factors become one, once the person has signed in to both", () =>
  withBrowser(async (open) => {
    const [tab, device] = await Promise.all([open(), open()]);
    const ada = newName();
    await signIn(device, "google", ada);
    const other = await enrolApp(device);
    await signIn(tab, "apple", ada);
    const own = await enrolApp(tab);
    await tab.click("I have saved them");
    const begin = async () => {
      await tab.click("Link Google account");
      await signInAt(tab, "google", ada);
      await tab.says(inUse, "alert");
      await tab.click("Combine the two accounts");
      await tab.sees("heading", signInOther);
    };
    await begin();
    await tab.check("sign in to the other account");
    await tab.click("Cancel");
    await tab.sees("heading", "Linked accounts");

    // The second step leads back to the ways to sign in, and a stranger gets no account.
    await begin();
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await tab.sees("heading", "Second step");
    await tab.click("Back");
    await tab.sees("heading", signInOther);
    await tab.click("Sign in with Facebook");
    await signInAt(tab, "facebook", newName("eve"));
    await tab.says("There is no account for this.", "alert");
    assert.equal((await tab.items("Linked accounts")).length, 1);

    await begin();
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await passSecondStep(tab, { code: appCode(other.secret, 1) });
    await tab.sees("heading", "Combine two accounts");
    await shows(tab, "Every sign-in asks for one of these from then on", "Authenticator app (this account)",
      "Authenticator app (the other account)", "The recovery codes of both accounts stay valid.");
    await tab.check("second factors of both accounts");
    await keepsNoToken(tab);
    await tab.click("Cancel");
    await tab.says("You cancelled. Nothing was changed.");
    assert.equal((await tab.items("Linked accounts")).length, 1);
    await hasEnded(tab, 1);

    // What is lost on the way back from the other account is read again, and what has changed is shown again.
    await begin();
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await tab.sees("heading", "Second step");
    await tab.lose(["/v1/account/merge/preview"]);
    await passSecondStep(tab, { recoveryCode: other.codes[0] });
    await shows(tab, "The service cannot be reached. Check your connection.");
    await tab.endInterception();
    await tab.click("Try again");
    await tab.sees("heading", "Combine two accounts");
    await tab.refuse("/v1/account/merge", 409, "MERGE_PLAN_CHANGED");
    await tab.click("Combine");
    await tab.says("Something changed since the preview. Nothing was combined.", "alert");
    await tab.click("Show what would happen now");
    await tab.click("Combine");
    await tab.says("The two accounts were combined.");
    assert.equal((await tab.items("Linked accounts")).length, 2);
    assert.equal((await tab.items("Second factors")).filter((each) => each.includes("Authenticator app")).length, 2);
    // The merge has ended the session.
    await hasEnded(tab, 1);

    await device.open(`${base}/account`);
    await device.sees("heading", "Sign in");
    await device.click("Sign in with Google");
    await signInAt(device, "google", ada);
    await passSecondStep(device, { recoveryCode: own.codes[0] });
    await device.says("You are signed in.");
    assert.equal((await device.items("Linked accounts")).length, 2);
  }));

test("without a way to a provider, too; an old sign-in is repeated first, and the first factor ends the session", () =>
  withBrowser(async (open) => {
    const [tab, device] = await Promise.all([open(), open()]);
    const ada = newName();
    const email = `${newName()}@example.com`;
    const signInByCode = async (each) => {
      await each.click("Sign in with a code by e-mail");
      await each.fill("E-mail address", email);
      await each.click("Send a code");
      await each.sees("textbox", "Code");
      await each.fill("Code", await sentCode(email));
      await each.click("Continue");
    };
    await device.open(`${base}/account`);
    await signInByCode(device);
    const other = await enrolApp(device);
    await signIn(tab, "apple", ada);
    await tab.click("Add an e-mail address");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await tab.sees("textbox", "Code");
    await tab.fill("Code", await sentCode(email));
    await tab.click("Add");
    await tab.says(inUse, "alert");
    await tab.click("Combine the two accounts");
    await tab.sees("heading", signInOther);
    await signInByCode(tab);
    await passSecondStep(tab, { code: appCode(other.secret, 1) });
    await tab.sees("heading", "Combine two accounts");
    await shows(tab, "Authenticator app (the other account)", "This account had no second factor");

    await tab.refuse("/v1/account/merge", 403, "REAUTHENTICATION_REQUIRED");
    await tab.click("Combine");
    await tab.sees("heading", "Sign in again");
    await tab.lacks("button", "Sign in with a code by e-mail");
    await hasEnded(tab, 1);
    await tab.click("Sign in with Apple");
    await signInAt(tab, "apple", ada);
    await tab.sees("heading", signInOther);
    await signInByCode(tab);
    await passSecondStep(tab, { recoveryCode: other.codes[0] });
    await tab.click("Combine");
    await tab.says("The two accounts were combined.");
    await tab.sees("heading", "Sign in");
    await tab.click("Sign in with Apple");
    await signInAt(tab, "apple", ada);
    await passSecondStep(tab, { recoveryCode: other.codes[1] });
    await tab.says("You are signed in.");
    assert.equal((await tab.items("Linked accounts")).length, 2);
  }));

test("the account of the page itself is none to combine, and leaving the page ends the other session", () =>
  withBrowser(async (open) => {
    const [tab, device] = await Promise.all([open(), open()]);
    const ada = newName();
    await signIn(device, "google", ada);
    const other = await enrolApp(device);
    await signIn(tab, "apple", ada);
    const begin = async (provider) => {
      await tab.click("Link Google account");
      await signInAt(tab, "google", ada);
      await tab.click("Combine the two accounts");
      await tab.sees("heading", signInOther);
      await tab.click(`Sign in with ${provider}`);
      await signInAt(tab, provider.toLowerCase(), ada);
    };
    await begin("Apple");
    await tab.says("Both are the same account already.", "alert");
    assert.equal((await tab.items("Linked accounts")).length, 1);
    await hasEnded(tab, 1);

    await begin("Google");
    await passSecondStep(tab, { code: appCode(other.secret, 1) });
    await tab.sees("heading", "Combine two accounts");
    await tab.reload();
    await tab.sees("heading", "Linked accounts");
    // The request may end after the page.
    let activity = [];
    while (!activity.some((each) => each.includes("Signed out"))) {
      await device.reload();
      await device.click("Recent activity");
      activity = await device.items("Recent activity");
    }
  }));
