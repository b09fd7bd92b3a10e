// Phone numbers that are changed or confirmed again, apart from the other stories, whose server sends as many codes as
// one client network gets in an hour.

import assert from "node:assert/strict";
import test from "node:test";
import { newName, sentCode, signIn } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

/** Enters the code that was sent to an address. */
async function enterCode(tab, address, submit = "Continue") {
  await tab.sees("textbox", "Code");
  await tab.fill("Code", await sentCode(address));
  await tab.click(submit);
}

test("a phone number is changed", () => withBrowser(async (open) => {
  const tab = await open();
  const digits = String(process.pid).padStart(6, "0").slice(-6);
  const [phone, other] = [`+4915124${digits}`, `+4915125${digits}`];
  await tab.open(`${base}/account`);
  await tab.click("Sign in with a code by text message");
  await tab.fill("Phone number", phone);
  await tab.click("Send a code");
  await enterCode(tab, phone);
  await tab.says("Welcome");
  await tab.click("Change the phone number");
  await tab.fill("Current phone number", other);
  await tab.fill("New phone number", other);
  await tab.click("Send a code");
  await enterCode(tab, other, "Change");
  await tab.says("This is no longer linked.", "alert");
  await tab.fill("Code", "");
  await tab.click("Cancel");
  await tab.click("Change the phone number");
  await tab.fill("Current phone number", phone);
  await tab.fill("New phone number", other);
  await tab.click("Send a code");
  await enterCode(tab, other, "Change");
  await tab.says("The address was changed.");
  await tab.click("Sign out");
  await tab.click("Sign in with a code by text message");
  await tab.fill("Phone number", other);
  await tab.click("Send a code");
  await enterCode(tab, other);
  await tab.says("You are signed in.");
}));

test("a number whose code was refused, since it was not used for long, is confirmed again", () => withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  const digits = String(process.pid).padStart(6, "0").slice(-6);
  const [phone, other] = [`+4915126${digits}`, `+4915127${digits}`];
  const send = async (number) => {
    await tab.fill("Phone number", number);
    await tab.click("Send a code");
  };
  await signIn(tab, "google", ada);
  await tab.click("Add a phone number");
  await send(phone);
  await enterCode(tab, phone, "Add");
  await tab.says("Phone added");
  await tab.lacks("button", "Confirm again");
  await tab.click("Sign out");
  await tab.click("Sign in with a code by text message");
  await send(phone);
  await tab.sees("textbox", "Code");
  await tab.refuse("/v1/auth/sign-in/phone", 403, "ADDRESS_UNUSED");
  await enterCode(tab, phone);
  await tab.says("This number has not been used for a long time. Sign in another way, then confirm it again.", "alert");
  await signIn(tab, "google", ada);
  await tab.check("a number to confirm");

  // This one was used after all, as the server says; then it is as if it had not been.
  await tab.click("Confirm again");
  await tab.check("the number to confirm");
  await send(phone);
  await enterCode(tab, phone);
  await tab.says("Nothing was confirmed: the number has been used lately, or is not the one of this account.", "alert");
  await tab.lacks("button", "Combine the two accounts");
  await tab.click("Confirm again");
  await send(other);
  await tab.sees("textbox", "Code");
  await tab.fill("Code", await sentCode(other));
  await tab.refuse("/v1/auth/link/phone", 200, "LINKED");
  await tab.click("Continue");
  await tab.says("The phone number was confirmed.");
  await tab.lacks("button", "Confirm again");
  assert.equal(await tab.evaluate("sessionStorage.length"), 0);

  // A number that takes the place of the one to confirm is added.
  await tab.evaluate(`sessionStorage.setItem("account-unused", "yes")`);
  await tab.reload();
  await tab.click("Confirm again");
  await send(other);
  await tab.sees("textbox", "Code");
  const second = await open();
  await signIn(second, "google", ada);
  await second.click("Remove Phone");
  await second.click("Remove");
  await second.says("Phone removed");
  await enterCode(tab, other);
  await tab.says("Phone added");
}));
