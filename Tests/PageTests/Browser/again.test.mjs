// Changes that need a recent sign-in; the server takes one for recent within LEDGER_REAUTHENTICATION_SECONDS.

import assert from "node:assert/strict";
import test from "node:test";
import { newName, signIn, signInAt } from "./people.mjs";
import { withBrowser } from "./tab.mjs";

const seconds = Number(process.env.REAUTHENTICATION_SECONDS);

/** Waits until a sign-in of now is no longer recent. */
async function grow(tab) {
  const end = Date.now() + (seconds + 1) * 1000;
  await tab.wait(`Date.now() > ${end}`, "an old sign-in");
}

test("after an old sign-in, an unlink asks to sign in again, and goes on", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const ada = newName();
    await signIn(tab, "apple", ada);
    await tab.click("Link Google account");
    await signInAt(tab, "google", ada);
    await tab.says("Google account linked successfully");
    await grow(tab);
    const ask = async () => {
      await tab.click("Unlink Google");
      await tab.click("Unlink");
      await tab.sees("heading", "Sign in again");
    };
    await ask();
    await tab.wait(`document.querySelector("main").innerText.includes(
      "You signed in a while ago. Sign in again to unlink.")`);
    await tab.lacks("button", "Sign in with Facebook");
    await tab.check("sign in again");
    await tab.click("Cancel");
    assert.equal((await tab.items("Linked accounts")).length, 2);

    // Another account's sign-in goes on with nothing.
    await ask();
    await tab.click("Sign in with Apple");
    await tab.wait(`location.pathname.startsWith("/dev/idp/apple/")`);
    await tab.click("Cancel");
    await tab.click("Continue");
    await tab.says("You cancelled. Nothing was changed.");
    assert.equal((await tab.items("Linked accounts")).length, 2);

    // A failure at the provider leaves what was asked for.
    await ask();
    await tab.change("/account/session*", ({ flow }) => { if (flow) flow.error = "temporarily_unavailable"; });
    await tab.click("Sign in with Apple");
    await tab.wait(`location.pathname.startsWith("/dev/idp/apple/")`);
    await tab.click("Cancel");
    await tab.click("Continue");
    await tab.says("Apple could not sign you in. Nothing was changed.", "alert");
    await tab.sees("heading", "Sign in again");
    await tab.endInterception();
    // No account is opened for a stranger.
    await tab.click("Try again");
    await signInAt(tab, "apple", newName("eve"));
    await tab.says("There is no account for this.", "alert");
    await tab.click("Unlink Google");
    await tab.click("Unlink");
    await tab.sees("heading", "Sign in again");
    // On a slow machine, the sign-in may be an old one again when the page goes on.
    const isDone = `document.querySelector("[role=status]")?.textContent.includes("Google account unlinked")`;
    for (let tries = 0; tries < 5 && !await tab.evaluate(isDone); tries += 1) {
      // The pending action is kept also when the account cannot be read after the sign-in.
      if (tries === 0) await tab.lose(["/v1/account"]);
      await tab.click("Sign in with Apple");
      await signInAt(tab, "apple", ada);
      if (tries === 0) {
        await tab.says("You are signed in.");
        await tab.endInterception();
        await tab.click("Try again");
      }
      await tab.wait(`${isDone} || lookup.find("heading", "Sign in again")`);
    }
    await tab.says("Google account unlinked");
    assert.equal((await tab.items("Linked accounts")).length, 1);
  }));

test("a sign-in with another account goes on with nothing", () => withBrowser(async (open) => {
  const [tab, other] = await Promise.all([open(), open()]);
  const [ada, eve] = [newName("ada"), newName("eve")];
  await signIn(other, "apple", eve);
  await other.click("Link Google account");
  await signInAt(other, "google", eve);
  await other.says("Google account linked successfully");
  await signIn(tab, "apple", ada);
  await tab.click("Link Google account");
  await signInAt(tab, "google", ada);
  await tab.says("Google account linked successfully");
  await grow(tab);
  await tab.click("Unlink Google");
  await tab.click("Unlink");
  await tab.click("Sign in with Apple");
  await signInAt(tab, "apple", eve);
  await tab.says("You signed in to another account. Nothing was changed.", "alert");
  assert.equal((await tab.items("Linked accounts")).length, 2);
}));
