// Scenarios 1 and 3 of the page: link, and unlink.

import assert from "node:assert/strict";
import test from "node:test";
import { newName, signIn, signInAt } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

/** Has support plan an unlink. */
async function planUnlink(tab, provider) {
  const { user, identity } = await tab.evaluate(`import("/assets/account/page.mjs").then(({ page }) => ({
    user: page.account.user_id,
    identity: page.account.identities.find((each) => each.provider === ${JSON.stringify(provider)}).identity_id }))`);
  const planned = await fetch(`${base}/v1/accounts/${user}/identities/${identity}/unlink`, {
    method: "POST", body: JSON.stringify({ case: "T-1" }),
    headers: {
      "Authorization": `Bearer ${process.env.LEDGER_SUPPORT_KEY}`, "Content-Type": "application/json",
      "Ledger-Reason": "a test",
    },
  });
  assert.equal(planned.status, 200, await planned.text());
}

test("a person links an account, after saying no; and keeps one that support is about to unlink", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await tab.open(`${base}/account`);
  await tab.sees("heading", "Sign in");
  assert.equal(await tab.focused(), "Sign in", "the focus is on the heading");
  await tab.check("signed out");
  await signIn(tab, "apple", ada);
  await tab.says("Welcome");
  assert.equal((await tab.items("Linked accounts")).length, 1);

  await tab.click("Link Google account");
  await tab.wait(`location.pathname.startsWith("/dev/idp/google/")`);
  await tab.click("Cancel");
  await tab.says("You cancelled. Nothing was changed.");
  assert.equal((await tab.items("Linked accounts")).length, 1);

  await tab.click("Link Google account");
  await signInAt(tab, "google", ada);
  await tab.says("Google account linked successfully");
  assert.equal(await tab.focused(), "Linked accounts", "the focus is on the heading");
  const items = await tab.items("Linked accounts");
  assert.equal(items.length, 2);
  assert.match(items[1], new RegExp(`Google.*${ada}.*linked today`, "s"));
  await tab.lacks("button", "Link Google account");
  assert.equal(await tab.evaluate("location.href"), `${base}/account`, "no code in the address");
  await tab.check("two accounts");

  await tab.reload();
  await tab.sees("button", "Unlink Google");
  assert.equal((await tab.items("Linked accounts")).length, 2);
  assert.equal(await tab.evaluate(`document.querySelector("[role=status]").textContent`), "");

  await planUnlink(tab, "google");
  await tab.reload();
  await tab.sees("button", "Keep it");
  assert.match((await tab.items("Linked accounts"))[1], /Google.*Support will unlink it/s);
  await tab.check("a planned unlink");
  await tab.click("Keep it");
  await tab.says("Google stays.");
  await tab.lacks("button", "Keep it");
  assert.equal((await tab.items("Linked accounts")).length, 2);
  await tab.click("Sign out");
  await tab.says("You are signed out.");
  await tab.sees("button", "Sign in with Google");

  // Either of them signs in to the same account.
  await signIn(tab, "google", ada);
  await tab.says("You are signed in.");
  assert.equal((await tab.items("Linked accounts")).length, 2);
}));

test("a person unlinks by keyboard, and never the only account", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await signIn(tab, "apple", ada);
  const why = "Cannot unlink your only authentication method. Link another one first.";
  await tab.click("Unlink Apple");
  assert.match((await tab.items("Linked accounts"))[0], new RegExp(why));
  await tab.lacks("dialog", "Unlink Apple?");
  assert.equal(
    await tab.evaluate(`document.getElementById(lookup.find("button", "Unlink Apple")
      .getAttribute("aria-describedby")).textContent`), why);
  await tab.check("one account");

  await tab.click("Link Google account");
  await signInAt(tab, "google", ada);
  await tab.says("Google account linked successfully");
  await tab.tabTo("Unlink Google");
  await tab.press("Enter");
  await tab.sees("dialog", "Unlink Google?");
  await tab.check("the question");
  await tab.press("Escape");
  await tab.wait(`!document.querySelector("dialog")`);
  assert.equal(await tab.focused(), "Unlink Google", "the focus goes back");
  assert.equal((await tab.items("Linked accounts")).length, 2);
  await tab.press("Enter");
  await tab.sees("dialog", "Unlink Google?");
  await tab.tabTo("Unlink");
  await tab.press("Enter");
  await tab.says("Google account unlinked");
  assert.deepEqual((await tab.items("Linked accounts")).length, 1);
  assert.equal(await tab.focused(), "Linked accounts");
  await tab.sees("button", "Link Google account");
}));

test("each tenant has a page of its own", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await tab.open(`${base}/t/acme/account`);
  await tab.click("Sign in with Google");
  await signInAt(tab, "google", ada);
  await tab.says("Welcome");
  assert.equal(await tab.evaluate("location.href"), `${base}/t/acme/account`);
  await tab.click("Link Apple account");
  await signInAt(tab, "apple", ada);
  await tab.says("Apple account linked successfully");
  await tab.open(`${base}/account`);
  await tab.sees("heading", "Sign in");
}));

test("a person who tries too often learns when the next try is possible", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await signIn(tab, "apple", ada);
  const link = async (name) => {
    await tab.click(`Link ${name} account`);
    await signInAt(tab, name.toLowerCase(), ada);
  };
  for (const name of ["Facebook", "GitHub", "Google", "LinkedIn", "X"]) {
    await link(name);
    await tab.says(`${name} account linked successfully`);
  }
  await tab.click("Unlink X");
  await tab.click("Unlink");
  await tab.says("X account unlinked");
  await link("X");
  await tab.wait(`/^Too many tries. Next possible try: .*\\d/.test(document.querySelector("[role=alert]").textContent)`);
  assert.equal((await tab.items("Linked accounts")).length, 5);
}));

test("without a connection nothing is lost, and another try goes on", () => withBrowser(async (open) => {
  const tab = await open();
  await signIn(tab, "apple", newName());
  const connect = (offline) => tab.send("Network.emulateNetworkConditions", {
    offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1,
  });
  await connect(true);
  await tab.click("Sign out");
  await tab.says("The service cannot be reached. Check your connection.", "alert");
  await tab.check("no connection");
  // The button of another try is gone, and the message that replaces it gets its focus.
  await tab.click("Try again");
  await tab.wait(`document.activeElement?.getAttribute("role") === "alert"`);
  await connect(false);
  await tab.click("Try again");
  await tab.says("You are signed out.");
}));

test("the page waits for a busy server, and says so", () => withBrowser(async (open) => {
  const tab = await open();
  await signIn(tab, "apple", newName());
  await tab.refuseOnce("/v1/account");
  await tab.reload();
  await tab.says("The service is busy. Trying again in a few seconds");
  await tab.sees("heading", "Linked accounts");
  await tab.wait(`document.querySelector("[role=status]").textContent === ""`);
}));

test("a page that does not load has a button for another try", () => withBrowser(async (open) => {
  const tab = await open();
  await tab.lose(["/account/session", "/assets/texts/*"]);
  await tab.open(`${base}/account`);
  await tab.says("The service cannot be reached. Check your connection.", "alert");
  await tab.endInterception();
  await tab.click("Try again");
  await tab.sees("heading", "Sign in");
}));

test("a change counts also when an answer is lost, and nothing says otherwise", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await signIn(tab, "apple", ada);
  // A repetition with the same key gets the answer again.
  await tab.click("Link Google account");
  await tab.wait(`location.pathname.startsWith("/dev/idp/google/")`);
  await tab.lose(["/v1/auth/link/google"], { stage: "Response", onlyOnce: true });
  await signInAt(tab, "google", ada);
  await tab.says("Google account linked successfully");
  assert.equal((await tab.items("Linked accounts")).length, 2);
  assert.equal(tab.requests.filter(({ url }) => url.endsWith("/v1/auth/link/google")).length, 2);
  // A response from an intermediary counts as lost, too, and the request is repeated.
  await tab.click("Link X account");
  await tab.wait(`location.pathname.startsWith("/dev/idp/x/")`);
  await tab.garbleOnce("/v1/auth/link/x");
  await signInAt(tab, "x", ada);
  await tab.says("X account linked successfully");
  await tab.click("Unlink X");
  await tab.click("Unlink");
  await tab.says("X account unlinked");
  // The change is done, and only the account cannot be read.
  await tab.click("Unlink Google");
  await tab.sees("dialog", "Unlink Google?");
  assert.equal(await tab.focused(), "Cancel", "the focus is on the button that does nothing");
  await tab.lose(["/v1/account"]);
  await tab.click("Unlink");
  await tab.says("Google account unlinked");
  await tab.wait(`document.querySelector("main").innerText.includes("The service cannot be reached.")`);
  await tab.endInterception();
  await tab.click("Try again");
  assert.equal((await tab.items("Linked accounts")).length, 1);
}));
