// Takes pictures of the pages in Chromium: node screenshots.mjs FOLDER, with the server's address in LEDGER_URL.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { enrolApp, signInBy } from "../../../Tests/PageTests/Browser/accounts.mjs";
import { newName, signIn, signInAt } from "../../../Tests/PageTests/Browser/people.mjs";
import { arrived, staffSession, staffTab } from "../../../Tests/PageTests/Browser/staff.mjs";
import { base, withBrowser } from "../../../Tests/PageTests/Browser/tab.mjs";

const folder = process.argv[2];
await mkdir(folder, { recursive: true });

/** Saves what a tab shows, in the wanted colours. */
async function save(tab, name, scheme = "light") {
  await tab.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  const height = await tab.evaluate("Math.min(document.documentElement.scrollHeight, 1200)");
  await tab.resize(1_000, Math.max(height, 400));
  const { data } = await tab.send("Page.captureScreenshot", { format: "webp", quality: 70 });
  await writeFile(join(folder, `${name}.webp`), Buffer.from(data, "base64"));
  await tab.resize(1_000, 800);
  process.stdout.write(`${name}.webp\n`);
}

/** Reads from the API as an administrator. */
async function reader() {
  const { fields } = await staffSession("admin");
  return async (path) => {
    const answer = await fetch(`${base}/v1/${path}`, { headers: fields });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
}

/** The newest event of a type. */
async function newest(read, type) {
  const { events } = await read(`events?type=${type}&order=newest&limit=1`);
  if (!events[0]) throw new Error(`no ${type} in the log: run tools/demo first`);
  return events[0];
}

await withBrowser(async (open) => {
  const tab = await open();
  const ada = newName();
  await tab.open(`${base}/account`);
  await tab.sees("heading", "Sign in");
  await save(tab, "account-sign-in");
  await signIn(tab, "google", newName("old"));
  await tab.click("Sign out");
  await signIn(tab, "apple", ada);
  await tab.click("Link Google account");
  await signInAt(tab, "google", `old-${process.pid}-2`);
  await tab.says("This account is already in use", "alert");
  await save(tab, "account-conflict");
  await tab.click("Combine the two accounts");
  await tab.sees("heading", "Combine two accounts");
  await save(tab, "account-combine");
  await tab.click("Cancel");
  await tab.sees("heading", "Linked accounts");
  await save(tab, "account");
  await tab.click("Recent activity");
  await tab.sees("heading", "Recent activity");
  await save(tab, "account-activity", "dark");
});

await withBrowser(async (open) => {
  const read = await reader();
  const merged = await newest(read, "AccountsMerged");
  const unmerged = await newest(read, "AccountsUnmerged");
  const linked = await newest(read, "ProviderLinked");
  const { conflicts } = await read("conflicts?state=open&limit=1");
  const [tried, holder] = [conflicts[0].caller.now, conflicts[0].holder.now];
  const [survivor, absorbed] = merged.entry.accounts.map(({ id }) => id);
  const [{ id: account }] = unmerged.entry.accounts;
  const visitor = await open();
  await visitor.open(`${base}/console/`);
  await save(visitor, "console-sign-in");
  const tab = await staffTab(open, "admin");
  const screens = {
    overview: "", search: `search`, conflicts: "conflicts", merge: `accounts/${holder}/merge?absorb=${tried}`,
    timelines: `conflicts/timelines?caller=${tried}&holder=${holder}`,
    account: `accounts/${account}`, "as-of": `accounts/${account}/as-of`, compare: `accounts/${account}/compare`,
    picture: `accounts/${account}/picture`, undo: `accounts/${survivor}/undo?merge=${merged.event_id}`,
    absorbed: `accounts/${absorbed}`, hold: `accounts/${account}/hold`, erase: `accounts/${account}/erase`,
    holds: "holds", events: "events", event: `events/${linked.event_id}?position=${linked.position}`, log: "log", export: "export",
    "access-log": "access-log",
  };
  for (const [name, path] of Object.entries(screens)) {
    await tab.open(`${base}/console/${path}`);
    await arrived(tab);
    if (name === "event") {
      await tab.click("Verify in this browser");
      await tab.wait(`document.body.innerText.includes("Verified: this entry")`);
    }
    await save(tab, `console-${name}`, name === "overview" ? "dark" : "light");
  }
  const person = await signInBy("apple");
  await enrolApp(person);
  await tab.open(`${base}/console/accounts/${person.id}/factor`);
  await arrived(tab);
  await save(tab, "console-factor");
  const { erase_needs_two: needsTwo } = await (await fetch(`${base}/console/session`)).json();
  if (!needsTwo) return;
  await tab.open(`${base}/console/accounts/${person.id}/erase`);
  await tab.fill("Reason", "ticket 7: the person asked for it");
  await tab.click("Preview");
  await tab.sees("heading", "What will happen");
  await tab.fill("Type the account's id to confirm", person.id);
  await tab.click("Erase account");
  await tab.says("Asked for. Another administrator has to confirm.");
  await tab.open(`${base}/console/erasures`);
  await arrived(tab);
  await save(tab, "console-erasures");
});
