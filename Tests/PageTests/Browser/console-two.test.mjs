// Erasures that need two administrators, at a server with erase_needs_two.

import assert from "node:assert/strict";
import test from "node:test";
import { signInBy } from "./accounts.mjs";
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
