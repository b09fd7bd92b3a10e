// Scenarios 2 and 4 of the page: an account that is in use, and combining the two.

import assert from "node:assert/strict";
import test from "node:test";
import { newName, signIn, signInAt } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

const inUse = "This account is already in use";

test("a conflict is announced, reveals nothing, and can be resolved", () =>
  withBrowser(async (open) => {
    const [tab, other] = await Promise.all([open(), open()]);
    const [ada, eve] = [newName("ada"), newName("eve")];
    await signIn(other, "google", eve);
    await signIn(tab, "apple", ada);
    await tab.click("Link Google account");
    await signInAt(tab, "google", eve);
    await tab.says(inUse, "alert");
    await tab.says("Someone, perhaps you, already signs in", "alert");
    assert.equal((await tab.items("Linked accounts")).length, 1, "the list is unchanged");
    assert.ok(!(await tab.evaluate("document.documentElement.outerHTML")).includes(eve), "no trace of the holder");
    await tab.sees("button", "Try another Google account");
    await tab.check("conflict");

    await tab.click("Combine the two accounts");
    await tab.sees("heading", "Combine two accounts");
    await tab.sees("heading", "Moves to this account");
    await tab.says("", "alert");
    await tab.check("combine");
    await tab.click("Cancel");
    await tab.says("You cancelled. Nothing was changed.");
    assert.equal((await tab.items("Linked accounts")).length, 1, "a preview does nothing");

    // Another account than that of the conflict.
    await tab.click("Link Google account");
    await signInAt(tab, "google", eve);
    await tab.says(inUse, "alert");
    await tab.click("Try another Google account");
    await signInAt(tab, "google", ada);
    await tab.says("Google account linked successfully");
  }));

test("two accounts become one after a sign-in that confirms it", () =>
  withBrowser(async (open) => {
    const [tab, device] = await Promise.all([open(), open()]);
    const ada = newName();
    await signIn(device, "google", ada);
    await signIn(tab, "apple", ada);
    await tab.click("Link Google account");
    await signInAt(tab, "google", ada);
    await tab.click("Combine the two accounts");
    await tab.sees("heading", "Combine two accounts");

    // The other account changes between the preview and the confirmation.
    await device.click("Link Facebook account");
    await signInAt(device, "facebook", ada);
    await device.says("Facebook account linked successfully");
    await tab.click("Sign in with Google to confirm");
    await signInAt(tab, "google", ada);
    await tab.says("Something changed since the preview. Nothing was combined.", "alert");
    await tab.click("Show what would happen now");
    await signInAt(tab, "google", ada);
    await tab.sees("heading", "Combine two accounts");
    await tab.wait(`document.querySelector("main").innerText.includes("Facebook")`);
    await tab.click("Sign in with Google to confirm");
    await tab.wait(`location.pathname.startsWith("/dev/idp/google/")`);
    await tab.click("Cancel");
    await tab.says("You cancelled. Nothing was changed.");
    assert.equal((await tab.items("Linked accounts")).length, 1);

    await tab.click("Link Google account");
    await signInAt(tab, "google", ada);
    await tab.click("Combine the two accounts");
    await tab.click("Sign in with Google to confirm");
    await signInAt(tab, "google", ada);
    await tab.says("The two accounts were combined.");
    assert.equal((await tab.items("Linked accounts")).length, 3);
    assert.equal(await tab.evaluate("location.href"), `${base}/account`);

    // The other account was signed out, and Google leads to the one that is left.
    await device.reload();
    await device.sees("heading", "Sign in");
    await device.lacks("heading", "Linked accounts");
    await signIn(device, "google", ada);
    assert.equal((await device.items("Linked accounts")).length, 3);
  }));

test("of a provider that both accounts have, the chosen account stays", () =>
  withBrowser(async (open) => {
    const [tab, device] = await Promise.all([open(), open()]);
    const [ada, old] = [newName("ada"), newName("old")];
    await signIn(device, "google", ada);
    await device.click("Link Apple account");
    await signInAt(device, "apple", old);
    await device.says("Apple account linked successfully");
    await signIn(tab, "apple", ada);
    await tab.click("Link Google account");
    await signInAt(tab, "google", ada);
    await tab.click("Combine the two accounts");
    await tab.sees("heading", "Is left behind");
    await tab.check("a choice");
    await tab.tabTo("That of this account");
    // While the plan of another choice is loading, and when it does not arrive, nothing else is confirmed.
    const confirm = "Sign in with Google to confirm";
    const release = await tab.hold("/v1/account/merge/preview");
    await tab.press("ArrowDown");
    await tab.wait(`lookup.find("button", ${JSON.stringify(confirm)})?.getAttribute("aria-disabled") === "true"`);
    await tab.click(confirm);
    await tab.click("That of this account", "radio");
    await release("ConnectionReset");
    await tab.says("The service cannot be reached. Check your connection.", "alert");
    assert.equal(await tab.evaluate(`lookup.find("radio", "That of this account").checked`), true);
    assert.equal(await tab.focused(), "That of this account");
    assert.equal(await tab.evaluate(`document.querySelector("main [aria-disabled=true]")`), null);
    await tab.click("Try again");
    await tab.wait(`lookup.focused() === "That of the other account" && !document.querySelector("[aria-disabled=true]")`);
    assert.equal(await tab.evaluate(`lookup.find("radio", "That of the other account").checked`), true);
    assert.equal(tab.requests.filter(({ url }) => url.endsWith("/v1/account/merge/preview")).length, 3);
    await tab.click("Sign in with Google to confirm");
    await signInAt(tab, "google", ada);
    await tab.says("The two accounts were combined.");
    await tab.sees("heading", "Sign in");
    // The session began with the account that is left behind.
    await signIn(tab, "google", ada);
    const items = (await tab.items("Linked accounts")).join();
    assert.ok(items.includes(`${old}@`) && items.includes("Google"), items);
  }));

test("a first visitor links, unlinks, meets a conflict and combines by clicking alone", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const pass = async (provider) => {
      await tab.wait(`location.pathname.startsWith("/dev/idp/${provider}/")`);
      await tab.click("Sign in");
      if (provider === "apple") await tab.click("Continue");
    };
    await tab.open(`${base}/account`);
    await tab.click("Sign in with Apple");
    await pass("apple");
    await tab.click("Link GitHub account");
    await pass("github");
    await tab.says("GitHub account linked successfully");
    await tab.click("Unlink GitHub");
    await tab.click("Unlink");
    await tab.says("GitHub account unlinked");
    await tab.click("Sign out");
    await tab.click("Sign in with Google");
    await pass("google");
    await tab.click("Sign out");
    await tab.click("Sign in with Apple");
    await pass("apple");
    await tab.click("Link Google account");
    await pass("google");
    await tab.says(inUse, "alert");
    await tab.click("Combine the two accounts");
    await tab.click("Sign in with Google to confirm");
    await pass("google");
    await tab.says("The two accounts were combined.");
    assert.equal((await tab.items("Linked accounts")).length, 2);
  }));
