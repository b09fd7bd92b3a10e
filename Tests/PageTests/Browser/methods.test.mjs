// Every other way to sign in: codes by e-mail and phone, passwords and passkeys.

import assert from "node:assert/strict";
import test from "node:test";
import { newName, sentCode, signIn, signInAt } from "./people.mjs";
import { base, localhost, withBrowser } from "./tab.mjs";

/** Enters the code that was sent to an address. */
async function enterCode(tab, address, submit = "Continue") {
  await tab.sees("textbox", "Code");
  await tab.fill("Code", await sentCode(address));
  await tab.click(submit);
}

test("a person signs up by an e-mail code, adds a phone and a password, and changes it", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const email = `${newName()}@example.com`;
    const phone = `+4915123${String(process.pid).padStart(6, "0").slice(-6)}`;
    await tab.open(`${base}/account`);
    await tab.click("Sign in with a code by e-mail");
    await tab.click("Send a code");
    assert.equal(await tab.focused(), "E-mail address", "the focus is on the field that is missing");
    await tab.check("a missing field");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await tab.sees("textbox", "Code");
    await tab.check("a code");
    await tab.fill("Code", "000000");
    await tab.click("Continue");
    await tab.says("The code is wrong or has expired.", "alert");
    await enterCode(tab, email);
    await tab.says("Welcome. Your account was created.");
    assert.match((await tab.items("Linked accounts"))[0], new RegExp(`E-mail ?${email}`));

    await tab.click("Add a phone number");
    await tab.fill("Phone number", phone);
    await tab.click("Send a code");
    await enterCode(tab, phone, "Add");
    await tab.says("Phone added");

    await tab.click("Set a password");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await tab.fill("New password", "short");
    await enterCode(tab, email, "Add");
    await tab.says("The password must have at least 8 characters.", "alert");
    await tab.fill("New password", "correct horse battery");
    await tab.click("Add");
    await tab.says("Password added");
    assert.equal((await tab.items("Linked accounts")).length, 3);

    await tab.click("Change the password");
    await tab.fill("E-mail address", email);
    await tab.fill("Current password", "a wrong one");
    await tab.fill("New password", "staple correct horse");
    await tab.check("change of the password");
    await tab.click("Change the password");
    await tab.says("The e-mail address or the password is wrong.", "alert");
    await tab.fill("Current password", "correct horse battery");
    await tab.click("Change the password");
    await tab.says("The password was changed.");

    await tab.click("Sign out");
    await tab.click("Sign in with a password");
    await tab.check("sign-in with a password");
    await tab.fill("E-mail address", email);
    await tab.fill("Password", "staple correct horse");
    await tab.click("Sign in");
    await tab.says("You are signed in.");

    await tab.click("Sign out everywhere");
    await tab.says("You are signed out everywhere.");
    await tab.click("Sign in with a password");
    await tab.click("Forgot the password?");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await tab.fill("New password", "a third password");
    await enterCode(tab, email);
    await tab.says("The password was changed.");
    await tab.fill("E-mail address", email);
    await tab.fill("Password", "a third password");
    await tab.click("Sign in");
    await tab.says("You are signed in.");
    assert.equal((await tab.items("Linked accounts")).length, 3);
  }));

test("a sign-out everywhere that ends nothing says that the session is over", () => withBrowser(async (open) => {
  const [tab, other] = await Promise.all([open(), open()]);
  const ada = newName();
  for (const each of [tab, other]) await signIn(each, "google", ada);
  await other.click("Sign out everywhere");
  await other.says("You are signed out everywhere.");
  await tab.click("Sign out everywhere");
  await tab.says("Your session is over. Sign in again.", "alert");
  await tab.sees("heading", "Sign in");
}));

test("a sign-in that was answered is not repeated when the account cannot be read", () => withBrowser(async (open) => {
  const tab = await open();
  const email = `${newName()}@example.com`;
  await tab.open(`${base}/account`);
  await tab.click("Sign in with a code by e-mail");
  await tab.fill("E-mail address", email);
  await tab.click("Send a code");
  await tab.sees("textbox", "Code");
  for (const lost of ["/account/session", "/v1/account"]) {
    await tab.lose([lost]);
    if (lost === "/account/session") await enterCode(tab, email);
    else await tab.click("Try again");
    await tab.says("Welcome. Your account was created.");
    await tab.wait(`document.querySelector("main").innerText.includes("The service cannot be reached.")`);
    await tab.endInterception();
  }
  await tab.check("a sign-in without the account");
  await tab.click("Try again");
  assert.equal((await tab.items("Linked accounts")).length, 1);
  await tab.says("Welcome. Your account was created.");
  assert.equal(tab.requests.filter(({ url }) => url.includes("/auth/sign-in/")).length, 1);
}));

test("a late answer leaves the view that the person went to, and a change that was done is told", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const email = `${newName()}@example.com`;
    await signIn(tab, "google", newName());
    await tab.holdAnswers(/\/account\/codes\/email$|\/auth\/link\/email$|factor-enrolments$|\/account\/flows$/);
    /** Cancels the first try of an action whose answer is held. */
    const cancel = async (index) => {
      await tab.wait(`held.length === ${index + 1}`);
      await tab.click("Cancel");
      await tab.sees("heading", "Linked accounts");
      await tab.release(index);
      assert.equal(await tab.evaluate(`document.querySelector("h1").textContent`), "Linked accounts");
      await tab.says("You cancelled. Nothing was changed.");
      assert.equal(await tab.evaluate(`document.querySelector("[role=alert]").textContent`), "");
    };
    const ask = async () => {
      await tab.click("Add an e-mail address");
      await tab.fill("E-mail address", email);
      await tab.click("Send a code");
    };
    await ask();
    await cancel(0);
    await sentCode(email);
    await tab.click("Add a second factor");
    await tab.click("Authenticator app");
    await cancel(1);

    // A refusal that comes too late is of no use; a success is shown, since it happened.
    const confirm = async (index, code) => {
      await ask();
      await tab.release(index);
      await tab.fill("Code", code ?? await sentCode(email));
      await tab.click("Add");
    };
    await confirm(2, "000000");
    await cancel(3);
    await sentCode(email);
    await confirm(4);
    await tab.wait("held.length === 6");
    await tab.click("Cancel");
    await tab.says("You cancelled. Nothing was changed.");
    await tab.release(5);
    await tab.says("E-mail added");
    assert.equal((await tab.items("Linked accounts")).length, 2);
    assert.equal(await tab.evaluate("sessionStorage.length"), 0);
  }));

test("a person changes an address, and the former one takes it back", () => withBrowser(async (open) => {
  const [tab, thief] = await Promise.all([open(), open()]);
  const [email, other] = [`${newName()}@example.com`, `${newName("eve")}@example.com`];
  for (const each of [tab, thief]) {
    await each.open(`${base}/account`);
    await each.click("Sign in with a code by e-mail");
    await each.fill("E-mail address", email);
    await each.click("Send a code");
    await enterCode(each, email);
    await each.sees("heading", "Linked accounts");
  }
  await thief.click("Set a password");
  await thief.fill("E-mail address", email);
  await thief.click("Send a code");
  await thief.fill("New password", "correct horse battery");
  await enterCode(thief, email, "Add");
  await thief.says("Password added");
  assert.equal((await thief.items("Linked accounts")).filter((text) => text.includes("Change")).length, 1);
  await thief.click("Change the e-mail address");
  await thief.fill("New e-mail address", other);
  await thief.check("change of an address");
  await thief.click("Send a code");
  await thief.sees("textbox", "Code");
  await thief.check("code of a change");
  await enterCode(thief, other, "Change");
  await thief.says("The address was changed.");
  assert.ok((await thief.items("Linked accounts")).every((text) => text.includes(other)));
  await thief.click("Change the e-mail address");
  const another = `${newName()}@example.com`;
  await thief.fill("New e-mail address", another);
  await thief.click("Send a code");
  await enterCode(thief, another, "Change");
  await thief.says("Too many tries. Next possible try:", "alert");

  // The change has ended the other session.
  await tab.reload();
  await tab.click("Sign in with a code by e-mail");
  await tab.click("Take back a former address");
  await tab.fill("Former e-mail address", email);
  await tab.check("return to a former address");
  await tab.click("Send a code");
  await tab.fill("New password", "staple correct horse");
  await enterCode(tab, email);
  await tab.says("Your address is back. Sign in with it.");
  await tab.click("Sign in with a password");
  await tab.fill("E-mail address", email);
  await tab.fill("Password", "staple correct horse");
  await tab.click("Sign in");
  await tab.says("You are signed in.");
  assert.ok((await tab.items("Linked accounts")).every((text) => text.includes(email)));
  await thief.reload();
  await thief.sees("heading", "Sign in");
}));

test("a person sees the recent activity", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await signIn(tab, "apple", ada);
  for (let times = 0; times < 21; times += 1) {
    await tab.click("Sign out");
    await tab.click("Sign in with Apple");
    await signInAt(tab, "apple", ada);
    await tab.sees("heading", "Linked accounts");
  }
  await tab.click("Recent activity");
  await tab.sees("heading", "Recent activity");
  await tab.check("recent activity");
  const rows = await tab.items("Recent activity");
  assert.equal(rows.length, 20);
  assert.match(rows[0], /^Signed in with Apple.*this session, 127\.0\.0\.1$/);
  assert.match(rows[1], /^Signed out/);
  await tab.click("Show older");
  await tab.wait(`lookup.items("Recent activity").length === 40`);
  await tab.click("Show older");
  await tab.wait(`!lookup.find("button", "Show older")`);
  const all = await tab.items("Recent activity");
  assert.equal(all.filter((text) => text.startsWith("Signed in with Apple")).length, 22);
  assert.ok(all.includes(all.find((text) => text.startsWith("Account created"))), all.at(-1));
  await tab.click("Back");
  await tab.sees("heading", "Linked accounts");
}));

test("a person signs up with a password", () => withBrowser(async (open) => {
  const tab = await open();
  const email = `${newName()}@example.com`;
  await tab.open(`${base}/account`);
  await tab.click("Sign in with a password");
  await tab.click("Create an account with a password");
  await tab.fill("E-mail address", email);
  await tab.fill("New password", "correct horse battery");
  await tab.click("Send a code");
  await enterCode(tab, email);
  await tab.says("Welcome. Your account was created.");
}));

test("an address of another account is a conflict, and the accounts are combined by codes", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const email = `${newName()}@example.com`;
    await tab.open(`${base}/account`);
    await tab.click("Sign in with a code by e-mail");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await enterCode(tab, email);
    await tab.says("Welcome");
    await tab.click("Sign out");
    await tab.says("You are signed out.");
    await signIn(tab, "apple", newName());
    await tab.click("Add an e-mail address");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await enterCode(tab, email, "Add");
    await tab.says("This account is already in use", "alert");
    await tab.click("Combine the two accounts");
    await tab.click("Send a code to confirm");
    await enterCode(tab, email, "Combine");
    await tab.says("The two accounts were combined.");
    assert.equal((await tab.items("Linked accounts")).length, 2);
  }));

test("a password for another account's address is a conflict, and its password combines the two", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const email = `${newName()}@example.com`;
    await tab.open(`${base}/account`);
    await tab.click("Sign in with a password");
    await tab.click("Create an account with a password");
    await tab.fill("E-mail address", email);
    await tab.fill("New password", "correct horse battery");
    await tab.click("Send a code");
    await enterCode(tab, email);
    await tab.says("Welcome");
    await tab.click("Sign out");
    await tab.says("You are signed out.");
    await signIn(tab, "google", newName());
    await tab.click("Set a password");
    await tab.fill("E-mail address", email);
    await tab.click("Send a code");
    await tab.fill("New password", "staple correct horse");
    await enterCode(tab, email, "Add");
    await tab.says("This account is already in use", "alert");
    await tab.click("Combine the two accounts");
    await tab.fill(`Password of ${email}`, "correct horse battery");
    await tab.click("Continue");
    await tab.sees("heading", "Moves to this account");
    await tab.check("combine by a password");
    await tab.fill(`Password of ${email}`, "correct horse battery");
    await tab.click("Combine");
    await tab.says("The two accounts were combined.");
    assert.equal((await tab.items("Linked accounts")).length, 2);
  }));

test("a passkey that the browser refuses is no cancellation", () => withBrowser(async (open) => {
  const tab = await open();
  await tab.plugIn({ transport: "internal" });
  // Its name is not the one of the passkeys.
  await tab.open(`${base}/account`);
  await tab.click("Create an account with a passkey");
  await tab.says("The passkey could not be used here.", "alert");
  await tab.open(`${base}/account?lang=de`);
  await tab.click("Mit einem Passkey anmelden");
  await tab.says("Der Passkey konnte hier nicht verwendet werden.", "alert");
}));

test("a person signs up with a passkey, adds another one, and removes it", () =>
  withBrowser(async (open) => {
    const tab = await open();
    await tab.plugIn({ transport: "internal" });
    await tab.open(`${localhost}/account`);
    await tab.click("Create an account with a passkey");
    await tab.says("Welcome. Your account was created.");
    await tab.click("Add a passkey");
    await tab.says("This device already has a passkey for this account.", "alert");
    await tab.plugIn({ transport: "usb" });
    await tab.click("Add a passkey");
    await tab.says("Passkey added");
    await tab.sees("heading", "Name the passkey");
    assert.match(await tab.evaluate(`lookup.find("textbox", "Name of the passkey").value`), /^Passkey, .*20\d\d/);
    await tab.check("the name of a passkey");
    const evil = `<img src=x onerror=alert(1)>"'`;
    await tab.fill("Name of the passkey", evil);
    await tab.click("Save the name");
    await tab.says("The name was saved.");
    const named = await tab.items("Linked accounts");
    assert.equal(named.length, 2);
    assert.ok(named[1].includes(evil), named[1]);
    assert.equal(await tab.evaluate(`document.querySelectorAll("img, [onerror]").length`), 0);
    await tab.check("passkeys");
    await tab.click("Sign out");
    await tab.click("Sign in with a passkey");
    await tab.says("You are signed in.");
    await tab.click("Rename");
    await tab.click("Cancel");
    await tab.says("You cancelled. Nothing was changed.");
    await tab.plugIn({ transport: "usb" });
    await tab.click("Add a passkey");
    await tab.sees("heading", "Name the passkey");
    await tab.click("Cancel");
    await tab.says("Passkey added, without a name");
    assert.equal((await tab.items("Linked accounts")).length, 3);
    // The first one, which has its day in place of a name.
    await tab.click("Rename");
    await tab.fill("Name of the passkey", "  Work phone ");
    await tab.click("Save the name");
    await tab.says("The name was saved.");
    assert.match((await tab.items("Linked accounts"))[0], /Work phone.*Passkey/);
    await tab.click("Remove Work phone");
    await tab.sees("dialog", "Remove Work phone?");
    await tab.click("Remove");
    await tab.says("Passkey removed");
    // The flow comes back to the name of the machine by which the page was opened.
    await tab.click("Link Google account");
    await tab.fill("Name", newName());
    await tab.click("Sign in");
    await tab.says("Google account linked successfully");
    assert.equal(await tab.evaluate("location.href"), `${localhost}/account`);
  }));
