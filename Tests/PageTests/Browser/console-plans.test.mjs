// Unlinks and removals of second factors that one person plans and another one does at once, at a server with
// support_needs_two. Its people sign in by codes to e-mail addresses.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, enrolApp } from "./accounts.mjs";
import { newName, sentCode } from "./people.mjs";
import { staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

const hostile = `<img src=x onerror="console.error('run')"> "'&`;
const ended = "The request can no longer be confirmed";
const link = "Confirmation by another person";
const below = (address) => address.split("/console/")[1];
const visit = (tab, path) => tab.open(`${base}/console/${path}`);
const reads = (tab, text) => tab.wait(`document.querySelector("main").innerText.includes(${JSON.stringify(text)})`);

/** Proves a new address, to sign up or to link it. */
async function proof(begin, token) {
  const address = `${newName()}@example.com`;
  const { challenge_id } = await ask("POST", begin, { body: { address }, token });
  return { challenge_id, code: await sentCode(address) };
}

async function signUp() {
  const { user_id: id, access_token: token } = await ask("POST", "/v1/auth/sign-in/email", { body: await proof("/v1/auth/codes/email") });
  return { id, token };
}

/** An account with a password besides; returns the identity of that, too. */
async function withPassword() {
  const account = await signUp();
  const body = { ...await proof("/v1/account/codes/password", account.token), password: "correct horse battery staple" };
  await ask("POST", "/v1/auth/link/password", { body, token: account.token });
  const { identities } = await ask("GET", "/v1/account", { token: account.token });
  return { ...account, identity: identities.find(({ provider }) => provider === "password").identity_id };
}

async function preview(tab, reason) {
  await tab.fill("Reason", reason);
  await tab.click("Preview");
  await tab.sees("heading", "What will happen");
}

/** Plans as the first person; returns the address to hand over. */
async function plan(tab, reason, submit, said) {
  await preview(tab, reason);
  await reads(tab, "you get an address by which another person of support can do it at once");
  await tab.fill("Case", "T-1");
  await tab.click(submit);
  await tab.says(said);
  await reads(tab, "Give this address to another person of support, who can confirm until");
  await tab.check("a plan that is handed over");
  return tab.evaluate(`lookup.find("link", "${link}").href`);
}

/** The actors of the plan and of the events by which it was done. */
async function actors(account, planned, done) {
  const found = [];
  for (const type of [planned, done]) {
    const { events } = await ask("GET", `/v1/events?type=${type}&account=${account.id}`, { token: process.env.LEDGER_ADMIN_KEY });
    const by = new Set(events.map(({ entry }) => `${entry.actor.type}:${entry.actor.id}`));
    assert.equal(by.size, 1, type);
    found.push(events[0].entry.actor);
  }
  return found;
}

test("an unlink that one person planned is done at once by another one, who reads who asked and why", () =>
  withBrowser(async (open) => {
    const account = await withPassword();
    const sam = await staffTab(open, "support", `accounts/${account.id}/unlink?identity=${account.identity}`, "Sam Ample");
    const address = await plan(sam, hostile, "Plan the unlink", "The unlink is planned.");
    const clipboard = await sam.useClipboard();
    await sam.click("Copy the address");
    await sam.says("The address was copied.");
    assert.equal(await clipboard(), address);

    // The same person confirms nothing.
    await sam.click(link, "link");
    await reads(sam, "You asked for this yourself. Another person has to confirm it.");
    await sam.lacks("button", "Preview");
    await sam.check("a request of one's own");

    const kim = await staffTab(open, "support", below(address), "Kim Ample");
    await reads(kim, "planned it at");
    await preview(kim, "read the case");
    const [planner] = await actors(account, "ProviderUnlinkPlanned", "ProviderUnlinkPlanned");
    const text = await kim.evaluate(`document.querySelector("main").innerText.replace(/\\s+/g, " ")`);
    for (const id of [account.id, account.identity, planner.id]) assert.ok(text.includes(`${id.slice(0, 8)}…${id.slice(-4)}`), text);
    assert.ok(text.includes(`Reason of the plan: ${hostile.replace(/\s+/g, " ")}; case: T-1`), text);
    assert.equal(await kim.evaluate(`document.querySelectorAll("main img").length`), 0);
    await kim.check("a confirmation of an unlink");
    await kim.fill("Case", "T-2");
    await kim.click("Confirm and unlink now");
    await kim.says("The identity was unlinked.");
    await kim.lacks("link", "Keep the identity");
    const [first, second] = await actors(account, "ProviderUnlinkPlanned", "ProviderUnlinked");
    assert.equal(second.type, "staff");
    assert.notEqual(second.id, first.id);

    // It was used.
    await visit(kim, below(address));
    await reads(kim, ended);
    await kim.check("a used request");
  }));

test("a lost second factor is removed at once by a second person, with what the first one gave them", () =>
  withBrowser(async (open) => {
    const account = await signUp();
    const factor = await enrolApp(account);
    const sam = await staffTab(open, "support", `accounts/${account.id}/factor?factor=${factor}`, "Sam Ample");
    const address = await plan(sam, "lost phone", "Plan the removal", "The removal is planned.");

    const kim = await staffTab(open, "admin", `accounts/${account.id}`, "Kim Ample");
    assert.match((await kim.items("Second factors"))[0], /is removed .*Planned removal.*Confirm now/);
    await kim.check("an account with a plan");
    await kim.click("Confirm now", "link");
    await reads(kim, "planned it at");
    await kim.fill("Reason", "called back");
    await kim.fill("Request", "T-1");
    await kim.click("Preview");
    await reads(kim, "This is neither a request nor its address.");
    assert.equal(await kim.focused(), "Request");
    // A request that the ledger did not issue confirms nothing.
    await kim.fill("Request", `staff:${account.id}.x`);
    await preview(kim, "called back");
    await reads(kim, "Reason of the plan: lost phone");
    await kim.check("a confirmation of a removal");
    await kim.fill("Case", "T-2");
    await kim.click("Confirm and remove now");
    await kim.says(ended, "alert");
    await kim.fill("Request", address);
    await kim.click("Confirm and remove now");
    await kim.says("The second factor was removed.");
    const [first, second] = await actors(account, "SecondFactorRemovalPlanned", "SecondFactorRemoved");
    assert.equal(second.type, "staff");
    assert.notEqual(second.id, first.id);
    await visit(kim, `accounts/${account.id}`);
    await kim.sees("list", "Timeline");
    await kim.lacks("link", "Confirm now");
  }));

test("a request ends with its plan", () =>
  withBrowser(async (open) => {
    const account = await withPassword();
    const view = `accounts/${account.id}/unlink?identity=${account.identity}`;
    const sam = await staffTab(open, "support", view, "Sam Ample");
    const address = await plan(sam, "ticket 7", "Plan the unlink", "The unlink is planned.");
    const kim = await staffTab(open, "support", view, "Kim Ample");
    await kim.sees("link", "Confirm now");
    await kim.check("a planned unlink with two persons");
    const other = await staffTab(open, "support", below(address), "Eve");
    await reads(other, "planned it at");
    await kim.fill("Reason", "called back");
    await kim.fill("Case", "T-3");
    await kim.click("Keep the identity");
    await kim.says("The unlink was stopped.");
    // The view that was opened before, and one that is opened now.
    await other.fill("Reason", "read the case");
    await other.click("Preview");
    await other.says(ended, "alert");
    await visit(other, below(address));
    await reads(other, ended);
    await other.click("Open it without the request", "link");
    await other.sees("button", "Preview");
  }));
