// Second factors: an authenticator app, a phone, a security key and recovery codes.

import assert from "node:assert/strict";
import test from "node:test";
import { appCode, enrolApp, newName, sentCode, signIn, signInAt } from "./people.mjs";
import { base, localhost, withBrowser } from "./tab.mjs";

test("a person enrols an authenticator app, and signs in with it or a recovery code", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const ada = newName();
    const phone = `+4915124${String(process.pid).padStart(6, "0").slice(-6)}`;
    await signIn(tab, "google", ada);
    const { secret, codes } = await enrolApp(tab);
    assert.equal(codes.length, 10);
    await tab.check("recovery codes");
    const clipboard = await tab.useClipboard();
    await tab.click("Copy");
    await tab.says("Copied.");
    assert.equal(await clipboard(), codes.join("\n"));
    await tab.click("I have saved them");
    await tab.sees("heading", "Linked accounts");
    assert.match((await tab.items("Second factors")).join(), /Authenticator app.*Recovery codes.*10 left/s);
    await tab.check("second factors");

    await tab.click("Sign out");
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await tab.sees("heading", "Second step");
    await tab.check("second step");
    await tab.fill("Code", "123456");
    await tab.click("Continue");
    await tab.says("The code is wrong or has expired.", "alert");
    await tab.fill("Code", appCode(secret, 1));
    await tab.click("Continue");
    await tab.says("You are signed in.");

    await tab.click("Add a second factor");
    await tab.click("Phone number");
    await tab.fill("Phone number", phone);
    await tab.click("Send a code");
    await tab.sees("textbox", "Code");
    await tab.fill("Code", await sentCode(phone));
    await tab.click("Add");
    await tab.says("The second factor was added.");

    await tab.click("Sign out");
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await tab.click(`Use instead: Phone ending in ${phone.slice(-4)}`);
    await tab.click("Send a code");
    await tab.sees("textbox", "Code");
    await tab.fill("Code", await sentCode(phone));
    await tab.click("Continue");
    await tab.says("You are signed in.");

    await tab.click("Sign out");
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await tab.click("Use instead: Recovery codes");
    await tab.fill("Recovery code", codes[0].toLowerCase());
    await tab.click("Continue");
    await tab.says("You are signed in.");
    assert.match((await tab.items("Second factors")).join(), /9 left/);

    await tab.click("New recovery codes");
    await tab.sees("heading", "Recovery codes");
    assert.notDeepEqual(await tab.items("Recovery codes"), codes);
    await tab.click("I have saved them");
    await tab.click("Remove Authenticator app");
    await tab.sees("dialog", "Remove Authenticator app?");
    await tab.click("Remove");
    await tab.says("The second factor was removed.");
    await tab.click(`Remove Phone ending in ${phone.slice(-4)}`);
    await tab.click("Remove");
    await tab.says("The second factor was removed.");
    await tab.wait(`document.querySelector("main").innerText.includes("No second factor is set up.")`);
  }));

test("a security key is the second step", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await tab.plugIn({ transport: "usb", hasResidentKey: false });
  await signIn(tab, "google", ada, localhost);
  await tab.click("Add a second factor");
  // The codes are in no other answer, so they are shown also when the connection is lost after it.
  await tab.lose(["/account/session", "/v1/account"]);
  await tab.click("Security key");
  await tab.says("The second factor was added.");
  assert.equal((await tab.items("Recovery codes")).length, 10);
  await tab.click("I have saved them");
  await tab.says("The service cannot be reached. Check your connection.", "alert");
  assert.equal((await tab.items("Recovery codes")).length, 10);
  await tab.endInterception();
  await tab.click("Try again");
  await tab.sees("heading", "Linked accounts");
  await tab.click("Sign out");
  await tab.click("Sign in with Google");
  await signInAt(tab, "google", ada);
  await tab.click("Use the security key");
  await tab.says("You are signed in.");
}));

test("the way back from the second step of another sign-in leads to that sign-in", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await signIn(tab, "google", ada);
  await tab.click("Add a second factor");
  await tab.refuse("/v1/account/factor-enrolments", 403, "REAUTHENTICATION_REQUIRED");
  await tab.click("Authenticator app");
  await tab.sees("heading", "Sign in again");
  await tab.refuse("/v1/auth/sign-in/google", 403, "SECOND_FACTOR_REQUIRED",
    { sign_in_token: "x", factors: [{ factor_id: "x", type: "totp" }] });
  await tab.click("Sign in with Google");
  await signInAt(tab, "google", ada);
  await tab.sees("heading", "Second step");
  await tab.click("Back");
  await tab.sees("heading", "Sign in again");
  await tab.lacks("button", "Sign in with Facebook");
  await tab.click("Sign in with Google");
  await signInAt(tab, "google", ada);
  await tab.sees("heading", "Add a second factor");
}));

test("a link that comes back from a provider, and needs another sign-in first, offers those of the account", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const ada = newName();
    await signIn(tab, "google", ada);
    await tab.refuse("/v1/auth/link/apple", 403, "REAUTHENTICATION_REQUIRED");
    await tab.click("Link Apple account");
    await signInAt(tab, "apple", ada);
    await tab.sees("heading", "Sign in again");
    await tab.lacks("button", "Sign in with Facebook");
    await tab.click("Sign in with Google");
    await signInAt(tab, "google", ada);
    await signInAt(tab, "apple", ada);
    await tab.says("Apple account linked successfully");
  }));

test("the first factor ends the sessions of other devices", () =>
  withBrowser(async (open) => {
    const [tab, device, away] = await Promise.all([open(), open(), open()]);
    const ada = newName();
    for (const each of [device, away, tab]) await signIn(each, "google", ada);
    await away.click("Link Apple account");
    await away.wait(`location.pathname.startsWith("/dev/idp/apple/")`);
    await enrolApp(tab);
    await device.click("Link Apple account");
    await device.says("Your session is over. Sign in again.", "alert");
    await device.sees("heading", "Sign in");
    assert.ok(!(await device.evaluate("document.body.innerText")).includes(ada));
    assert.equal(await device.evaluate("location.href"), `${base}/account`);
    // The page says so also when it is opened, in its language, and on the way back from a provider.
    await device.open(`${base}/account?lang=de`);
    await device.says("Ihre Sitzung ist beendet. Melden Sie sich erneut an.", "alert");
    await device.sees("heading", "Anmelden");
    await signInAt(away, "apple", ada);
    await away.says("Your session is over. Sign in again.", "alert");
    await away.sees("heading", "Sign in");
  }));

test("a person keeps a factor that support is about to remove", () => withBrowser(async (open) => {
  const tab = await open();
  await signIn(tab, "google", newName());
  await enrolApp(tab);
  await tab.click("I have saved them");
  await tab.sees("button", "Remove Authenticator app");
  const { user, factor } = await tab.evaluate(`import("/assets/account/page.mjs").then(({ page }) => ({
    user: page.account.user_id, factor: page.factors.find(({ type }) => type === "totp").factor_id }))`);
  const planned = await fetch(`${base}/v1/accounts/${user}/factors/${factor}/removal`, {
    method: "POST", body: JSON.stringify({ case: "T-1" }),
    headers: {
      "Authorization": `Bearer ${process.env.LEDGER_SUPPORT_KEY}`, "Content-Type": "application/json",
      "Ledger-Reason": "a test",
    },
  });
  assert.equal(planned.status, 200, await planned.text());
  await tab.reload();
  await tab.sees("button", "Keep it");
  assert.match((await tab.items("Second factors"))[0], /Support will remove it/);
  await tab.check("a planned removal");
  await tab.click("Keep it");
  await tab.says("The second factor stays.");
  await tab.lacks("button", "Keep it");
}));
