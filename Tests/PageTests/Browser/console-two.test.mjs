// Erasures that need two administrators, at a server with erase_needs_two, and merges and undoings that need two persons.

import assert from "node:assert/strict";
import test from "node:test";
import { enrolApp, signInBy } from "./accounts.mjs";
import { staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

const visit = async (tab, path) => tab.open(`${base}/console/${path}`);
const hostile = `<img src=x onerror="console.error('run')"> "'&`;
const confirmation = "Type the account's id to confirm";

/** Asks for the erasure of an account as the first administrator. */
async function ask(tab, account, reason) {
  await visit(tab, `accounts/${account.id}/erase`);
  await tab.fill("Reason", reason);
  await tab.click("Preview");
  await tab.sees("heading", "What will happen");
  await tab.fill(confirmation, account.id);
  await tab.click("Erase account");
  await tab.says("Asked for. Another administrator has to confirm.");
}

test("one administrator asks, another one sees it with its reason, types the id and confirms", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const sam = await staffTab(open, "admin", "search", "Sam Ample");
    await ask(sam, account, hostile);
    await sam.sees("heading", "Asked for; another administrator has to confirm");
    await sam.check("asked for");
    await sam.reload();
    await sam.wait(`document.querySelector("main").innerText.includes("is not erased yet: another administrator has to confirm it")`);
    await sam.lacks("button", "Preview");
    await sam.check("a request of one's own");
    assert.equal((await signInBy("apple", account.name)).id, account.id, "nothing is erased");

    const kim = await staffTab(open, "admin", `accounts/${account.id}`, "Kim Ample");
    await kim.sees("link", "Confirm or withdraw the erasure…");
    await kim.check("an account with a request");
    await kim.click("Erasures", "link");
    await kim.sees("heading", "Erasures to confirm");
    const [row] = await kim.items("Erasures to confirm");
    assert.ok(row.includes(hostile.replace(/\s+/g, " ")), row);
    assert.equal(await kim.evaluate(`document.querySelectorAll("main img").length`), 0);
    await kim.check("the list of requests");
    await kim.click("Confirm or withdraw…", "link");
    await kim.fill("Reason", "read the case");
    await kim.click("Preview");
    await kim.sees("heading", "What will happen");
    await kim.check("a confirmation");
    await kim.fill(confirmation, account.id);
    await kim.click("Confirm and erase account");
    await kim.says("The account was erased.");
    assert.notEqual((await signInBy("apple", account.name)).id, account.id, "the person returns as another account");

    // Both are in the log, as different people.
    const answer = await fetch(`${base}/v1/events?type=AccountErased&account=${account.id}`, {
      headers: { Authorization: `Bearer ${process.env.LEDGER_ADMIN_KEY}` },
    });
    const [{ entry }] = (await answer.json()).events;
    assert.equal(entry.details.asker_type, "staff");
    assert.notEqual(entry.details.asker, entry.actor.id);
    await visit(kim, "erasures");
    await kim.wait(`document.querySelector("main").innerText.includes("No erasure waits for a confirmation.")`);
    await kim.check("no requests");
  }));

test("a request is withdrawn with a reason, and a changed account makes it void", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const sam = await staffTab(open, "admin", "search", "Sam Ample");
    await ask(sam, account, "request 12");
    const kim = await staffTab(open, "admin", `accounts/${account.id}/erase`, "Kim Ample");
    await kim.click("Withdraw the request");
    await kim.sees("dialog", "Withdraw the request?");
    await kim.check("the question before a withdrawal");
    await kim.fill("Reason", "not theirs");
    await kim.click("Withdraw");
    await kim.says("The request was withdrawn.");
    await kim.check("withdrawn");
    await sam.reload();
    await sam.sees("button", "Preview");

    // Support and auditors have neither the list nor the request.
    const support = await staffTab(open, "support", "erasures", "Eve");
    await support.wait(`/only .*admin/i.test(document.querySelector("main").innerText)`);
    await support.lacks("link", "Erasures");
  }));

test("one person asks for the undoing of a merge into an account with a second factor, and another one confirms it", () =>
  withBrowser(async (open) => {
    const [stays, goes] = [await signInBy("apple"), await signInBy("google")];
    const sam = await staffTab(open, "support", `accounts/${stays.id}/merge?absorb=${goes.id}`, "Sam Ample");
    await sam.fill("Reason", "one person");
    await sam.click("Preview");
    await sam.sees("heading", "What will happen");
    await sam.fill("Case", "T-1");
    await sam.click("Merge accounts");
    await sam.says("The accounts were merged.");
    await enrolApp(stays);
    await sam.click("undo the merge", "link");
    await sam.fill("Reason", "two people");
    await sam.click("Preview");
    await sam.wait(`document.querySelector("main").innerText.includes("You only ask for the undoing")`);
    await sam.check("an undoing that needs two");
    await sam.fill("Case", "T-2");
    await sam.click("Undo the merge");
    await sam.says("Asked for. Another person has to confirm.");
    await sam.check("an undoing that was asked for");
    const path = await sam.evaluate(`lookup.find("link", "Confirmation by another person").href.split("/console/")[1]`);
    await sam.click("Confirmation by another person", "link");
    await sam.fill("Reason", "two people");
    await sam.click("Preview");
    await sam.says("You asked for this yourself.", "alert");

    const kim = await staffTab(open, "support", path, "Kim Ample");
    await kim.fill("Reason", "read the case");
    await kim.click("Preview");
    await kim.wait(`document.querySelector("main").innerText.includes("asked for the undoing, and you confirm it")`);
    await kim.check("a confirmation of an undoing");
    await kim.fill("Case", "T-2");
    await kim.click("Confirm and undo the merge");
    await kim.says("The merge was undone.");
    assert.equal((await signInBy("google", goes.name)).id, goes.id);

    const answer = await fetch(`${base}/v1/events?type=AccountsUnmerged&account=${goes.id}`, {
      headers: { Authorization: `Bearer ${process.env.LEDGER_ADMIN_KEY}` },
    });
    const [{ entry }] = (await answer.json()).events;
    assert.equal(entry.details.asker_type, "staff");
    assert.notEqual(entry.details.asker, entry.actor.id);

    // A request that was not issued, or is no longer valid, confirms nothing.
    const [third, fourth] = [await signInBy("apple"), await signInBy("github")];
    await visit(kim, `accounts/${third.id}/merge?absorb=${fourth.id}`);
    await kim.fill("Reason", "one person");
    await kim.click("Preview");
    await kim.sees("heading", "What will happen");
    await kim.fill("Case", "T-3");
    await kim.click("Merge accounts");
    await kim.says("The accounts were merged.");
    const undoing = await kim.evaluate(`lookup.find("link", "undo the merge").href.split("/console/")[1]`);
    await visit(sam, `${undoing}&request=x`);
    await sam.fill("Reason", "read the case");
    await sam.click("Preview");
    await sam.says("The request can no longer be confirmed", "alert");
    await sam.check("a request that confirms nothing");
  }));

test("one person asks for the merge of an account with a second factor, and another one confirms it", () =>
  withBrowser(async (open) => {
    const [stays, goes] = [await signInBy("apple"), await signInBy("google")];
    await enrolApp(goes);
    const sam = await staffTab(open, "support", `accounts/${stays.id}/merge?absorb=${goes.id}`, "Sam Ample");
    await sam.fill("Reason", "one person");
    await sam.click("Preview");
    await sam.wait(`document.querySelector("main").innerText.includes("You only ask for the merge")`);
    const [factor] = await sam.items("Second factors afterwards");
    assert.match(factor, /of the absorbed account/);
    await sam.wait(`document.querySelector("main").innerText.includes("All sessions of the account that stays end, too.")`);
    await sam.check("a merge that needs two");
    await sam.fill("Case", "T-1");
    await sam.click("Merge accounts");
    await sam.says("Asked for. Another person has to confirm.");
    await sam.check("a merge that was asked for");
    const path = await sam.evaluate(`lookup.find("link", "Confirmation by another person").href.split("/console/")[1]`);
    await sam.click("Confirmation by another person", "link");
    await sam.fill("Reason", "one person");
    await sam.click("Preview");
    await sam.says("You asked for this yourself.", "alert");

    const kim = await staffTab(open, "support", path, "Kim Ample");
    await kim.lacks("button", "Swap");
    await kim.fill("Reason", "read the case");
    await kim.click("Preview");
    await kim.wait(`document.querySelector("main").innerText.includes("asked for the merge, and you confirm it")`);
    await kim.check("a confirmation of a merge");
    await kim.fill("Case", "T-1");
    await kim.click("Confirm and merge accounts");
    await kim.says("The accounts were merged.");
    await visit(sam, path.replace(/request=[^&]*/, "request=x"));
    await sam.wait(`document.querySelector("main").innerText.includes("already")`);
  }));
