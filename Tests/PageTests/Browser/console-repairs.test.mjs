// Scenarios 8 to 10 of the console: conflicts, merges, undoing, relinks, holds and erasures.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { repairSentence } from "../../../Sources/CPageAssets/console/repair-words.mjs";
import { conflict, enrolApp, link, signInBy, unlink } from "./accounts.mjs";
import { arrived, signInAsStaff, staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

/** Opens an address below the console's. */
const visit = async (tab, path) => tab.open(`${await tab.evaluate("location.href.split('/console/')[0]")}/console/${path}`);

/** Goes back, which loads no document. */
const back = (tab) => tab.evaluate("history.back()");

const hostile = `<img src=x onerror="console.error('run')"> "'&`;

test("an open conflict has both accounts and a sentence, and leads to the merge in one click", () =>
  withBrowser(async (open) => {
    const { caller, holder } = await conflict();
    await link(caller, "google", holder.name, 409);
    const tab = await staffTab(open, "support", `conflicts?account=${caller.id}`);
    await tab.sees("heading", "Conflicts");
    const [row] = await tab.items("Conflicts");
    assert.match(row, /^google was refused twice, last .*, because another account has it/);
    assert.ok(row.includes(caller.id.slice(0, 8)) && row.includes(holder.id.slice(0, 8)), row);
    await tab.check("conflicts");

    // A note is a text, whatever it looks like, and stays after a reload.
    await tab.click("Looked at, nothing to do", "summary");
    await tab.click("Save the note");
    await tab.sees("textbox", "Note");
    assert.equal(await tab.focused(), "Note");
    await tab.fill("Note", "é".repeat(501));
    await tab.click("Save the note");
    await tab.wait(`document.querySelector(".review .error").textContent.includes("1002 of at most 1000 bytes")`);
    await tab.fill("Note", hostile);
    await tab.click("Save the note");
    await tab.says("The note was saved.");
    await tab.reload();
    assert.ok((await tab.items("Conflicts"))[0].includes(`Looked at: ${hostile}`.replace(/\s+/g, " ")));
    await tab.check("a conflict that was looked at");
    await tab.click("Remove the note");
    await tab.says("The note was removed.");

    await tab.click("Timeline of both", "link");
    await tab.sees("heading", "Timeline of both accounts");
    await back(tab);
    await tab.click("Merge the accounts", "link");
    await tab.sees("heading", "Merge accounts");
    await tab.wait(`location.pathname.endsWith("/accounts/${caller.id}/merge")`);
  }));

test("a queue without conflicts, and one that is behind, say so", () =>
  withBrowser(async (open) => {
    const { id } = await signInBy("apple");
    const tab = await staffTab(open, "auditor", `conflicts?account=${id}`);
    await tab.wait(`document.querySelector("main").innerText.includes("No open conflicts.")`);
    await tab.check("no conflicts");
    await tab.change("/v1/conflicts?*", (answer) => { answer.folded = { size: "40", log_size: "42" }; });
    await tab.reload();
    await tab.wait(`document.querySelector("main").innerText.includes("As of position 40 of 42")`);
    await tab.lacks("link", "Merge the accounts");
  }));

test("a merge is previewed, changed by a sign-in, done and undone by keyboard alone", () =>
  withBrowser(async (open) => {
    const { caller, holder } = await conflict();
    const tab = await staffTab(open, "support", `conflicts?account=${caller.id}`);
    await tab.sees("link", "Merge the accounts");
    const enter = async (name) => {
      await tab.tabTo(name);
      await tab.press("Enter");
    };
    const type = async (label, text) => {
      await tab.tabTo(label);
      await tab.send("Input.insertText", { text });
    };
    await enter("Merge the accounts");
    await tab.sees("heading", "Merge accounts");
    await tab.check("merge");
    await enter("Preview");
    await tab.wait(`lookup.focused() === "Reason"`);
    await tab.send("Input.insertText", { text: "ticket 7" });
    await tab.press("Enter");
    await tab.sees("heading", "What will happen");
    await tab.says("This is a preview. Nothing was changed.");
    assert.equal(await tab.focused(), "What will happen");
    assert.equal((await signInBy("google", holder.name)).id, holder.id, "a preview does nothing, and the sign-in changes the plan");
    await tab.check("preview");
    await type("Case", "T-100");
    await tab.press("Enter");
    await tab.says("Something changed since the preview. Nothing was merged.", "alert");
    assert.equal(await tab.evaluate(`lookup.find("textbox", "Case").value`), "T-100");
    assert.equal(await tab.evaluate(`lookup.find("textbox", "Reason").value`), "ticket 7");
    await tab.check("changed plan");
    await enter("Merge accounts");
    await tab.says("The accounts were merged.");
    assert.equal(await tab.evaluate(`document.querySelector("[role=alert]").textContent`), "", "the former refusal");
    await tab.sees("heading", "The accounts were merged");
    await tab.check("merged");
    assert.equal((await signInBy("google", holder.name)).id, caller.id, "the identity opens the account that stays");

    // The old id leads to the account that stays, also for a merge.
    await enter("undo the merge");
    await tab.sees("heading", "Undo a merge");
    await type("Reason", "ticket 8");
    await tab.press("Enter");
    await tab.sees("heading", "What will happen");
    await tab.check("preview of the undoing");
    await type("Case", "T-101");
    await tab.press("Enter");
    await tab.says("The merge was undone.");
    assert.equal((await signInBy("google", holder.name)).id, holder.id);
    await tab.reload();
    await tab.sees("heading", "Undo a merge");
    await tab.fill("Reason", "ticket 9");
    await tab.click("Preview");
    await tab.says("The merge cannot be undone: it was undone already", "alert");
    await tab.check("an undoing that is refused");
  }));

test("of a provider that both accounts have, the chosen identity stays, and Swap keeps what was typed", () =>
  withBrowser(async (open) => {
    const [stays, goes] = [await signInBy("apple"), await signInBy("apple")];
    await link(goes, "google");
    const tab = await staffTab(open, "admin", `accounts/${goes.id}/merge?absorb=${stays.id}`);
    await tab.fill("Reason", hostile);
    await tab.click("Swap");
    await tab.wait(`location.pathname.endsWith("/accounts/${stays.id}/merge")
      && document.querySelector("dd a").href.endsWith("${stays.id}")`);
    await tab.wait(`lookup.find("textbox", "Reason")?.value === ${JSON.stringify(hostile)}`);
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.check("a choice");
    await tab.click("That of the absorbed account", "radio");
    await tab.says("The preview has this choice now. Nothing was changed.");
    assert.equal(await tab.focused(), "That of the absorbed account");
    await tab.fill("Case", hostile);
    await tab.click("Merge accounts");
    await tab.says("The accounts were merged.");
    assert.equal((await signInBy("apple", goes.name)).id, stays.id);
    // The id of the absorbed account leads to the one that stays.
    await visit(tab, `accounts/${goes.id}/merge?absorb=${(await signInBy("github")).id}`);
    await tab.sees("link", "another account");
  }));

test("of two members of staff who merge the same accounts, the second is led to the account that stays", () =>
  withBrowser(async (open) => {
    const { caller, holder } = await conflict();
    const tabs = [];
    for (const role of ["support", "admin"]) {
      const tab = await staffTab(open, role, `accounts/${caller.id}/merge?absorb=${holder.id}`);
      await tab.fill("Reason", "ticket 13");
      await tab.click("Preview");
      await tab.sees("heading", "What will happen");
      await tab.fill("Case", "T-104");
      tabs.push(tab);
    }
    const [first, second] = tabs;
    await first.click("Merge accounts");
    await first.says("The accounts were merged.");
    await second.click("Merge accounts");
    await second.says("The account was merged into another one. Nothing was changed.", "alert");
    await second.check("an account that is merged");
    assert.ok((await second.evaluate(`lookup.find("link", "Open the account that stays").href`)).endsWith(`/accounts/${caller.id}`));

    // The conflict has ended, and has the accounts of its first attempt.
    await visit(second, `conflicts?state=resolved&account=${caller.id}`);
    const [row] = await second.items("Conflicts");
    assert.match(row, /had it.*Ended by a merge at /);
    assert.ok(row.includes(holder.id.slice(-4)), row);
    await second.lacks("link", "Merge the accounts");
    await second.check("an ended conflict");
  }));

test("an unlinked identity is linked again, and a refusal has its reason", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    await link(account, "google");
    const tab = await staffTab(open, "support", `accounts/${account.id}/unlink`);
    const address = await tab.wait(`lookup.find("link", "google")?.href`);
    await unlink(account, "google");
    await tab.open(address.replace("/unlink?", "/relink?"));
    await tab.fill("Reason", "ticket 10");
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.check("preview of a relink");
    await tab.fill("Case", "T-102");
    await tab.click("Link again");
    await tab.says("The identity was linked again.");
    assert.equal((await signInBy("google", account.name)).id, account.id);
    await tab.reload();
    await tab.fill("Reason", "ticket 10");
    await tab.click("Preview");
    await tab.says("The identity cannot be linked again: the account has it.", "alert");

    // Support plans an unlink, and stops it.
    await tab.open(address);
    await tab.fill("Reason", "ticket 11");
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.fill("Case", "T-103");
    await tab.click("Plan the unlink");
    await tab.says("The unlink is planned.");
    await tab.reload();
    await tab.sees("button", "Keep the identity");
    await tab.check("a planned unlink");
    const keeps = () => tab.requests.filter(({ url }) => url.endsWith("/keep")).length;
    await tab.fill("Reason", "x".repeat(256));
    await tab.fill("Case", "Fall Müller");
    await tab.click("Keep the identity");
    assert.equal(await tab.focused(), "Reason", "of a fault");
    await tab.fill("Reason", "called back");
    await tab.click("Keep the identity");
    assert.equal(await tab.focused(), "Case", "of a fault");
    assert.equal(await tab.evaluate(`lookup.find("textbox", "Case").value`), "Fall Müller", "what was typed stays");
    await tab.check("a case that is refused");
    assert.equal(keeps(), 0);
    await tab.fill("Case", "T-103");
    await tab.click("Keep the identity");
    await tab.says("The unlink was stopped.");
  }));

test("a lost second factor is removed after a day, unless it is stopped", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const factor = await enrolApp(account);
    const tab = await staffTab(open, "support", `accounts/${account.id}`);
    assert.match((await tab.items("Second factors"))[0], /Authenticator app/);
    await tab.click("Remove a lost factor", "link");
    await tab.sees("heading", "Remove a second factor");
    await tab.fill("Reason", hostile);
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.check("preview of a removal");
    await tab.fill("Case", "T-105");
    await tab.click("Plan the removal");
    await tab.says("The removal is planned.");
    await tab.check("a planned removal");
    await tab.click("Open the account", "link");
    await tab.sees("list", "Timeline");
    assert.match((await tab.items("Second factors"))[0], /is removed/);
    await tab.lacks("link", "Confirm now");
    await tab.click("Planned removal", "link");
    await tab.sees("button", "Keep the factor");
    assert.ok(await tab.evaluate(`location.search.includes("${factor}")`));
    await tab.check("a removal that can be stopped");
    await tab.fill("Case", "T-105");
    await tab.fill("Reason", "called back");
    await tab.click("Keep the factor");
    await tab.says("The removal was stopped.");
    await visit(tab, `accounts/${account.id}/factor`);
    await tab.sees("link", "Authenticator app");
    // An auditor sees the factor, and no way to remove it.
    const auditor = await staffTab(open, "auditor", `accounts/${account.id}`);
    assert.equal((await auditor.items("Second factors")).length, 2);
    await auditor.lacks("link", "Remove a lost factor");
  }));

test("the bar has the number of open conflicts, also after a merge", () =>
  withBrowser(async (open) => {
    const { caller, holder } = await conflict();
    const tab = await staffTab(open, "support", `accounts/${caller.id}/merge?absorb=${holder.id}`);
    const number = `Number(/\\((\\d+)\\)/.exec(document.querySelector("#nav [data-path=conflicts]").textContent)?.[1] ?? 0)`;
    const before = await tab.wait(number);
    await tab.fill("Reason", "ticket 14");
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.fill("Case", "T-106");
    await tab.click("Merge accounts");
    await tab.says("The accounts were merged.");
    await tab.wait(`${number} === ${before - 1}`);
    await tab.check("the bar with a number");
  }));

test("an account is disabled, enabled and signed out", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const tab = await staffTab(open, "support", `accounts/${account.id}/disable`);
    const act = async (submit, said) => {
      await tab.fill("Reason", "stolen phone");
      await tab.click("Preview");
      await tab.sees("heading", "What will happen");
      await tab.fill("Case", "T-6");
      await tab.click(submit);
      await tab.says(said);
    };
    await tab.sees("heading", "Disable an account");
    await tab.check("disable");
    await act("Disable the account", "The account was disabled.");
    await visit(tab, `accounts/${account.id}/enable`);
    await act("Enable the account", "The account was enabled.");
    await visit(tab, `accounts/${account.id}/end-sessions`);
    await act("End all sessions", "The sessions were ended.");
    assert.equal((await signInBy("apple", account.name)).id, account.id);
  }));

test("support erases nothing; a hold refuses an erasure, and the id that is typed confirms it", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const support = await staffTab(open, "support", `accounts/${account.id}/erase`);
    await support.wait(`/only .*admin/i.test(document.querySelector("main").innerText)`);
    await support.lacks("button", "Preview");
    const tab = await staffTab(open, "admin", `accounts/${account.id}/hold`);
    await tab.sees("heading", "Legal hold");
    await tab.click("Set legal hold");
    assert.equal(await tab.focused(), "Reason");
    await tab.fill("Reason", `Fall 4711, Müller ${hostile}`);
    await tab.click("Set legal hold");
    await tab.says("The legal hold was set.");
    assert.equal((await tab.items("Legal holds")).length, 1);
    await tab.check("a legal hold");

    await visit(tab, `accounts/${account.id}/erase`);
    await tab.fill("Reason", "request 12");
    await tab.click("Preview");
    await tab.wait(`document.querySelector("main").innerText.includes("A legal hold protects the account.")`);
    await tab.lacks("button", "Erase account");
    await tab.check("an erasure that a hold refuses");
    await tab.click(`Legal holds of ${account.id.slice(0, 8)}…${account.id.slice(-4)}`, "link");
    await tab.sees("button", "Lift legal hold");
    await tab.fill("Reason", "closed");
    await tab.click("Lift legal hold");
    await tab.sees("dialog", "Lift the legal hold?");
    await tab.check("the question before a hold is lifted");
    await tab.press("Escape");
    await tab.wait(`!document.querySelector("dialog, [aria-disabled=true]")`);
    assert.equal((await tab.items("Legal holds")).length, 1);
    await tab.click("Lift legal hold");
    await tab.click("Lift");
    await tab.says("The legal hold was lifted.");

    await visit(tab, `accounts/${account.id}/erase`);
    await tab.fill("Reason", "request 12");
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.check("preview of an erasure");
    await tab.fill("Type the account's id to confirm", "yes");
    await tab.click("Erase account");
    await tab.wait(`document.querySelector("main").innerText.includes("This is not the id of the account.")`);
    await tab.fill("Type the account's id to confirm", account.id);
    await tab.click("Erase account");
    await tab.says("The account was erased.");
    await tab.sees("list", "Erased accounts");
    await tab.check("erased");
    assert.notEqual((await signInBy("apple", account.name)).id, account.id, "the person returns as another account");
    await tab.reload();
    await tab.wait(`document.querySelector("main").innerText.includes("Its history stays without the person.")`);
  }));

test("a legal hold that was set is told also when the list cannot be read, and is not set twice", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "admin", `accounts/${account.id}/hold`);
  await tab.fill("Reason", "request 16");
  await tab.lose([`/v1/accounts/${account.id}`]);
  await tab.click("Set legal hold");
  await tab.says("The legal hold was set.");
  await tab.wait(`document.querySelector("main").innerText.includes("The legal holds cannot be read now.")`);
  assert.equal(await tab.evaluate(`document.querySelector("[role=alert]").textContent`), "");
  await tab.check("a legal hold without the list");
  await tab.endInterception();
  await tab.reload();
  assert.equal((await tab.items("Legal holds")).length, 1);
}));

test("an erasure after an old sign-in asks for another one, and keeps what was typed", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const tab = await staffTab(open, "admin", `accounts/${account.id}/erase`);
    await tab.evaluate(`document.getElementById("basis").value = "retention"`);
    await tab.fill("Reason", `${hostile} Fall 4711, Müller`);
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    await tab.fill("Type the account's id to confirm", account.id);
    await tab.refuse(`/v1/accounts/${account.id}?*`, 403, "REAUTHENTICATION_REQUIRED");
    await tab.click("Erase account");
    await tab.says("You signed in a while ago. Sign in again to go on; nothing was changed.", "alert");
    await tab.check("an erasure that needs another sign-in");
    const address = await tab.evaluate(`lookup.find("link", "Sign in again").href`);
    const kept = () => tab.evaluate(`sessionStorage.getItem("console-erase")`);
    assert.equal(await kept(), null, "nothing is kept before the way is followed");
    const answer = await fetch(address, { redirect: "manual" });
    assert.equal(answer.status, 303);
    assert.ok(new URL(answer.headers.get("Location") ?? "").pathname.startsWith("/dev/idp/staff/"), address);
    assert.equal(new URL(address).searchParams.get("to"), `accounts/${account.id}/erase`);
    assert.ok(!address.includes("4711"), "no reason stands in an address");
    // The way is followed, and the way back opens the same view.
    await follow(tab);
    assert.ok((await kept()).includes("4711"));
    await tab.reload();
    await tab.wait(`lookup.find("textbox", "Reason")?.value.endsWith("Müller")`);
    assert.equal(await tab.evaluate(`document.getElementById("basis").value`), "retention");
    assert.equal(await kept(), null);
    await tab.click("Preview");
    await tab.sees("heading", "What will happen");
    assert.equal((await signInBy("apple", account.name)).id, account.id, "nothing was erased");
  }));

/** Follows the way to another sign-in, at which the browser stays. */
const follow = (tab) => tab.evaluate(`(() => {
  const link = lookup.find("link", "Sign in again");
  link.addEventListener("click", (event) => event.preventDefault(), { once: true });
  link.click();
})()`);

test("what was typed for an erasure goes with the session, and is for the same person alone", () =>
  withBrowser(async (open) => {
    const account = await signInBy("apple");
    const tab = await staffTab(open, "admin", `accounts/${account.id}/erase`);
    const kept = () => tab.evaluate(`sessionStorage.getItem("console-erase")`);
    const leave = async () => {
      await tab.fill("Reason", "request 15");
      await tab.click("Preview");
      await tab.sees("heading", "What will happen");
      await tab.fill("Type the account's id to confirm", account.id);
      await tab.refuse(`/v1/accounts/${account.id}?*`, 403, "REAUTHENTICATION_REQUIRED");
      await tab.click("Erase account");
      await tab.sees("link", "Sign in again");
      await follow(tab);
      assert.ok((await kept()).includes("request 15"));
    };
    await leave();
    await tab.evaluate(`document.dispatchEvent(new Event("session-over"))`);
    assert.equal(await kept(), null, "the session is over");
    await follow(tab);
    await tab.click("Sign out");
    await tab.says("You are signed out.");
    assert.equal(await kept(), null, "signed out");

    await visit(tab, `accounts/${account.id}/erase`);
    await signInAsStaff(tab, "admin");
    await leave();
    await tab.open(`${base}/console/sign-in?fresh=1&to=${encodeURIComponent(`accounts/${account.id}/erase`)}`);
    await tab.fill("Name", "Eve");
    await tab.evaluate(`document.querySelector("select[name=role]").value = "admin"`);
    await tab.click("Continue");
    await arrived(tab);
    await tab.sees("textbox", "Reason");
    assert.equal(await tab.evaluate(`lookup.find("textbox", "Reason").value`), "", "another person sees nothing of it");
    assert.equal(await kept(), null);
  }));

test("every documented reason of a refused undoing or relink has a sentence of its own", async () => {
  const text = await readFile(new URL("../../../docs/merges.md", import.meta.url), "utf8");
  for (const code of ["MERGE_SUPERSEDED", "RELINK_REFUSED"]) {
    const table = text.slice(text.lastIndexOf(code)).split("\n\n")[1];
    const reasons = [...table.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, reason]) => reason).filter((reason) => reason !== "reason");
    assert.ok(reasons.length >= 7, code);
    const sentences = reasons.map((reason) => repairSentence({ code, details: { reason } }));
    const other = repairSentence({ code, details: { reason: "another" } });
    assert.ok(!sentences.includes(other) && new Set(sentences).size === reasons.length, sentences.join("\n"));
  }
});
