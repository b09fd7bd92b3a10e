// Scenarios 6, 7 and 12 of the console: search, accounts with their timelines and past; and what surrounds every view.

import assert from "node:assert/strict";
import test from "node:test";
import { conflict, link, signInBy, unlink } from "./accounts.mjs";
import { newName } from "./people.mjs";
import { arrived, staffSession, staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

const none = "01a1fb40-0000-7000-8000-000000005dc4";
const hostile = `<img src=x onerror="console.error('run')"> "'&</script>`;
const main = `document.querySelector("main").innerText`;

/** Waits for a text in the view. */
const shows = (tab, text) => tab.wait(`${main}.includes(${JSON.stringify(text)})`, text);

/** Opens an address below the console's, as a document of its own. */
async function visit(tab, path) {
  await tab.open(`${base}/console/${path}`);
  await arrived(tab);
}

/** Chooses an option. */
async function choose(tab, label, value) {
  await tab.evaluate(`(() => {
    const select = [...document.querySelectorAll("select")].find((each) =>
      (each.getAttribute("aria-label") ?? each.labels[0]?.textContent) === ${JSON.stringify(label)});
    select.value = ${JSON.stringify(value)};
    select.dispatchEvent(new Event("change"));
  })()`);
}

/** Asks the API as an administrator. */
async function admin(method, path, { body, reason } = {}) {
  const answer = await fetch(base + path, {
    method, body: body && JSON.stringify(body), headers: {
      Authorization: `Bearer ${process.env.LEDGER_ADMIN_KEY}`, ...(reason && { "Ledger-Reason": reason }),
      ...(body && { "Content-Type": "application/json" }),
    },
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** Merges an account into another one. */
async function merge(survivor, absorbed) {
  const path = `/v1/accounts/${survivor.id}/merge`;
  const { plan_digest } = await admin("POST", `${path}/preview`, { body: { absorb: absorbed.id }, reason: "ticket 6" });
  return (await admin("POST", path, { body: { absorb: absorbed.id, plan_digest, case: "T-6" }, reason: "ticket 6" })).merge;
}

async function undo(event) {
  const path = `/v1/merges/${event}/undo`;
  const { plan_digest } = await admin("POST", `${path}/preview`, { reason: "ticket 6" });
  await admin("POST", path, { body: { plan_digest, case: "T-6" }, reason: "ticket 6" });
}

/** Checks that a text is neither in addresses nor in what the browser stores. */
async function isNowhere(tab, text) {
  const stored = await tab.evaluate("JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }])");
  for (const each of [text, encodeURIComponent(text)]) {
    assert.ok(!stored.includes(each));
    for (const { url } of tab.requests) assert.ok(!url.includes(each), url);
  }
}

test("a search needs a reason for an e-mail, and leaves the term nowhere", () => withBrowser(async (open) => {
  const name = newName();
  const account = await signInBy("google", name);
  await link(account, "apple");
  const { links } = await admin("GET", `/v1/accounts/${account.id}?disclose=true`, { reason: "ticket 5" });
  const { email } = links.find(({ provider }) => provider === "google");
  assert.ok(email.includes("@"));
  const tab = await staffTab(open, "support", "search");
  await tab.sees("heading", "Search");
  assert.equal(await tab.evaluate("document.title"), "Search, AccountLedger");
  await tab.check("search");

  const sent = () => tab.requests.filter(({ url }) => url.includes("/v1/search")).length;
  await tab.click("Search");
  assert.equal(await tab.focused(), "E-mail, provider's id or any id");
  await tab.fill("E-mail, provider's id or any id", email);
  await tab.press("Enter");
  await shows(tab, "Enter a reason");
  assert.equal(await tab.focused(), "Reason");
  assert.equal(await tab.evaluate(`lookup.find("textbox", "Reason").getAttribute("aria-invalid")`), "true");
  assert.equal(sent(), 0, "nothing is sent without a reason");
  await tab.check("a missing reason");
  await tab.fill("Reason", "Fall 7, Müller");
  await tab.press("Enter");
  await tab.says("1 account, found by e-mail");
  const [row] = await tab.items("Accounts");
  assert.match(row, new RegExp(`${account.id.slice(0, 8)}….* live .*google and apple.* found by e-mail`));
  await tab.check("what was found");
  assert.equal(sent(), 1);
  await isNowhere(tab, email);

  const { accesses } = await admin("GET", "/v1/access-log?order=newest&limit=20");
  const search = accesses.find(({ action }) => action === "search");
  assert.equal(search.reason, "Fall 7, Müller");
  assert.ok(search.principal.startsWith("staff:"));
  assert.ok(!JSON.stringify(accesses).includes(email), "the access log has the reason, not the term");

  // By an id there is no reason to give, and nothing found is said.
  await tab.fill("E-mail, provider's id or any id", account.id);
  await tab.fill("Reason", "");
  await tab.click("Search");
  await tab.says("1 account, found by its id");
  await tab.fill("E-mail, provider's id or any id", "nobody@example.com");
  await tab.fill("Reason", "ticket 7");
  await tab.click("Search");
  await tab.says("No account found");
  await tab.check("no account");
  await tab.fill("E-mail, provider's id or any id", account.id);
  await tab.click("Search");
  await tab.says("1 account");
  await tab.click(`${account.id.slice(0, 8)}…${account.id.slice(-4)}`, "link");
  await tab.sees("heading", "Timeline");
  await tab.evaluate("history.back()");
  await tab.sees("list", "Accounts");
  await tab.reload();
  await arrived(tab);
  await tab.lacks("list", "Accounts");
}));

test("an auditor searches by ids alone", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "auditor", "search");
  await tab.lacks("textbox", "Reason");
  await tab.fill("E-mail, provider's id or any id", "ada@example.com");
  await tab.press("Enter");
  await shows(tab, "Only support and administrators may search by an e-mail.");
  await tab.check("an auditor's search by an e-mail");
  assert.equal(tab.requests.filter(({ url }) => url.includes("/v1/search")).length, 0);
  await tab.fill("E-mail, provider's id or any id", account.id);
  await tab.press("Enter");
  await tab.says("1 account, found by its id");
  const identity = (await admin("GET", `/v1/accounts/${account.id}`)).links[0].identity_id;
  await tab.fill("E-mail, provider's id or any id", identity);
  await tab.press("Enter");
  await tab.says("1 identity");
  await tab.lacks("button", "Show personal data");
}));

test("a timeline is in sentences, and complete; personal data need a reason, and go", () => withBrowser(async (open) => {
  const { caller, holder } = await conflict();
  await link(caller, "github");
  await unlink(caller, "github");
  await link(caller, "github");
  await unlink(caller, "github");
  const tab = await staffTab(open, "support", `accounts/${caller.id}`);
  await tab.sees("heading", "Timeline");
  const rows = await tab.items("Timeline");
  const position = rows.map((row) => Number(/#(\d+)/.exec(row)[1]));
  assert.deepEqual(position, [...position].sort((a, b) => b - a), "the newest one is the first");
  const has = (pattern) => assert.ok(rows.some((row) => pattern.test(row)), `${pattern}\n${rows.join("\n")}`);
  has(/^(.* )?\d\d:\d\d:\d\d UTC unlinked github by the account holder #\d+ Link again/);
  has(/linked github by the account holder/);
  has(/could not link google: another account has it .*by the account holder #\d+ Preview merge/);
  has(/signed up with apple/);
  has(/was opened by the account holder/);
  assert.match(await tab.evaluate(`document.getElementById("completeness").textContent`), new RegExp(`Exactly ${rows.length} events touch`));
  const known = (await admin("GET", `/v1/accounts/${caller.id}/history`)).events.map((each) => Number(each.position));
  assert.deepEqual([...position].reverse(), known, "every position");
  assert.equal(await tab.evaluate(`document.querySelector("main time").dateTime.endsWith("Z")`), true);
  await tab.check("an account");

  // Filter and order are in the address, and stay.
  await choose(tab, "Filter", "refused");
  await tab.wait(`lookup.items("Timeline").length === 1`);
  await choose(tab, "Order", "oldest");
  await tab.wait(`location.search === "?kind=refused&order=oldest"`);
  await tab.reload();
  await arrived(tab);
  assert.match((await tab.items("Timeline"))[0], /could not link google/);
  await choose(tab, "Filter", "all");
  await tab.wait(`/was opened/.test(lookup.items("Timeline")[0])`);

  // Nothing personal before a reason.
  const email = (await admin("GET", `/v1/accounts/${caller.id}?disclose=true`, { reason: "ticket 5" })).links[0].email;
  const page = "document.documentElement.outerHTML";
  assert.ok(!(await tab.evaluate(page)).includes(email));
  assert.ok(!(await tab.bodies()).join().includes(email));
  await tab.click("Show personal data");
  await tab.sees("dialog", "Show personal data?");
  await tab.check("the question for a reason");
  await tab.press("Escape");
  await tab.wait(`!document.querySelector("dialog")`);
  assert.equal(await tab.focused(), "Show personal data");
  await tab.press("Enter");
  await tab.sees("dialog", "Show personal data?");
  await tab.click("Show");
  await shows(tab, "Account").then(() => tab.wait(`document.querySelector("dialog .error").textContent === "Enter a reason"`));
  await tab.fill("Reason", hostile);
  await tab.click("Show");
  await shows(tab, `Shown to you for: ${hostile}; recorded.`.replace(/\s+/g, " "));
  await shows(tab, email);
  assert.equal(await tab.focused(), "Hide personal data", "in place of the button that is gone");
  await tab.lacks("link", "Export");
  await tab.check("personal data");
  const access = (await admin("GET", "/v1/access-log?order=newest&limit=20")).accesses.find(({ disclosed }) => disclosed);
  assert.equal(access.reason, hostile);
  assert.equal(access.account, caller.id);
  await isNowhere(tab, email);
  await isNowhere(tab, hostile);
  await tab.click("Hide personal data");
  assert.ok(!(await tab.evaluate(page)).includes(email));
  assert.equal(await tab.focused(), "Show personal data");
  await tab.click("Show personal data");
  await tab.fill("Reason", "ticket 8");
  await tab.click("Show");
  await shows(tab, email);
  await tab.reload();
  await tab.sees("button", "Show personal data");
  assert.ok(!(await tab.evaluate(page)).includes(email), "gone after a reload");

  await tab.click("Preview merge", "link");
  await tab.wait(`location.pathname.endsWith("/accounts/${caller.id}/merge") && location.search === "?absorb=${holder.id}"`);
}));

test("personal data go after 15 minutes, and when the session is over", () => withBrowser(async (open) => {
  const account = await signInBy("google");
  const { email } = (await admin("GET", `/v1/accounts/${account.id}?disclose=true`, { reason: "ticket 5" })).links[0];
  const tab = await open();
  // Timers of minutes are kept, to be run by the test.
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: `(() => {
    const real = setTimeout;
    globalThis.later = [];
    globalThis.setTimeout = (run, wait, ...rest) => {
      if (wait < 600_000) return real(run, wait, ...rest);
      later.push({ run, wait });
      return 0;
    };
  })()` });
  const session = await staffSession("support");
  await signInWith(tab, session.cookie);
  await visit(tab, `accounts/${account.id}`);
  const disclose = async () => {
    await tab.click("Show personal data");
    await tab.fill("Reason", "ticket 9");
    await tab.click("Show");
    await shows(tab, email);
  };
  await disclose();
  await tab.evaluate(`later.find(({ wait }) => wait === 900_000).run()`);
  await tab.says("The personal data were hidden after 15 minutes.");
  assert.ok(!(await tab.evaluate("document.documentElement.outerHTML")).includes(email));
  await disclose();
  await end(session);
  await choose(tab, "Order", "oldest");
  await tab.says("Your session is over.", "alert");
  assert.ok(!(await tab.evaluate("document.documentElement.outerHTML")).includes(email));
}));

test("merged accounts are bands of one timeline, and the absorbed one names the survivor", () => withBrowser(async (open) => {
  const [stays, goes] = [await signInBy("apple"), await signInBy("google")];
  const event = await merge(stays, goes);
  await signInBy("google", goes.name);
  const tab = await staffTab(open, "support", `accounts/${goes.id}`);
  await shows(tab, "was merged into");
  let rows = await tab.items("Timeline");
  assert.ok(rows.some((row) => /absorbed .*From here on, the two accounts are one\./.test(row)), rows.join("\n"));
  await tab.check("merged accounts");
  await tab.click("Undo merge", "link");
  await tab.wait(`location.search === "?merge=${event}"`);
  await undo(event);
  await visit(tab, `accounts/${stays.id}`);
  rows = await tab.items("Timeline");
  const band = await tab.evaluate(`[...document.querySelectorAll("li.merged")].map((each) => each.innerText.replace(/\\s+/g, " "))`);
  assert.match(band[0], /gave back/);
  assert.match(band.at(-1), /absorbed/);
  assert.ok(band.some((row) => /signed in with google/.test(row)), "what happened between");
  assert.ok(!band.some((row) => /was opened/.test(row)));
  await tab.lacks("link", "Undo merge");

  // The picture, and its text.
  await tab.click("Picture", "link");
  await tab.sees("heading", "The same as a table");
  const table = await tab.evaluate(`[...document.querySelectorAll("tbody tr")].map((each) => each.innerText.replace(/\\s+/g, " "))`);
  assert.ok(table.some((row) => /^google .* A, .*absorbed.*gave back/.test(row)), table.join("\n"));
  assert.ok(await tab.evaluate(`Boolean(document.querySelector("svg.strip[role=img][aria-label] line.span"))`));
  await tab.check("the picture");
}));

test("an identity has its holders", () => withBrowser(async (open) => {
  const [first, second] = [await signInBy("apple"), await signInBy("apple")];
  await link(first, "github");
  const identity = (await admin("GET", `/v1/accounts/${first.id}`)).links.find(({ provider }) => provider === "github").identity_id;
  await unlink(first, "github");
  await link(second, "github", first.name);
  const tab = await staffTab(open, "auditor", `identities/${identity}`);
  const rows = await tab.items("Holders");
  assert.equal(rows.length, 2);
  assert.ok(rows[0].includes(first.id.slice(0, 8)) && /identity unlinked/.test(rows[0]), rows[0]);
  assert.ok(rows[1].includes(second.id.slice(0, 8)) && rows[1].endsWith("until now"), rows[1]);
  await tab.check("the holders of an identity");
  await visit(tab, `identities/${none}`);
  await shows(tab, "No account has held an identity of this id.");
}));

test("the legal holds in force are a list", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "admin", "holds");
  await tab.sees("heading", "Legal holds");
  const { hold } = await admin("POST", `/v1/accounts/${account.id}/holds`, { reason: "Court order 7" });
  await tab.reload();
  await arrived(tab);
  const row = (await tab.items("Legal holds")).find((each) => each.includes(account.id.slice(0, 8)));
  assert.ok(row?.includes(`hold ${hold.slice(0, 8)}`), row);
  await tab.check("legal holds");
  await tab.click(`${account.id.slice(0, 8)}…${account.id.slice(-4)}`, "link");
  await tab.wait(`location.pathname.endsWith("/accounts/${account.id}/hold")`);
}));

test("an unknown id, an unknown address, and a role that is missing are said", () => withBrowser(async (open) => {
  const tab = await staffTab(open, "auditor", `accounts/${none}`);
  await shows(tab, "There is no account of this id.");
  await tab.check("an unknown account");
  for (const path of [`accounts/${none}/as-of`, `accounts/${none}/compare`, `accounts/${none}/picture`, "accounts/x"]) {
    await visit(tab, path);
    await shows(tab, "There is no account of this id.");
  }
  await visit(tab, "nowhere/at/all");
  await shows(tab, "There is no page at this address.");
  await visit(tab, `accounts/${none}/erase`);
  await shows(tab, "Only administrators may do this. You are signed in as Sam Ample, an auditor.");
  await tab.check("a missing role");
}));

test("the past is reached by keyboard alone, and by its address", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  await link(account, "google");
  await link(account, "github");
  await unlink(account, "google");
  const history = (await admin("GET", `/v1/accounts/${account.id}/history`)).events.map(({ position }) => position);
  const tab = await staffTab(open, "support", `accounts/${account.id}`);
  const linked = async (...providers) => {
    await tab.wait(`JSON.stringify([...document.querySelectorAll("[aria-label='Linked at this moment'] b")].map((b) => b.textContent))
      === ${JSON.stringify(JSON.stringify(providers))}`, `linked: ${providers}`);
  };
  await tab.tabTo("As of");
  await tab.press("Enter");
  await tab.sees("heading", "Linked at this moment");
  assert.match(await tab.focused(), /as of a moment$/, "the focus is on the heading");
  await linked("apple", "github");
  await tab.check("as of");
  await tab.tabTo("Moment");
  const value = () => tab.evaluate("document.activeElement.getAttribute('aria-valuetext')");
  assert.match(await value(), new RegExp(`^After #${history.at(-1)}, unlinked google, `));
  await tab.press("ArrowLeft");
  await linked("apple", "google", "github");
  assert.match(await value(), /linked github/);
  assert.equal(await tab.evaluate("new URL(location.href).searchParams.get('as_of')"), history.at(-2));
  await tab.press("Home");
  await shows(tab, "Nothing was linked at this moment.");
  assert.match(await value(), /was opened/);
  await tab.press("End");
  await linked("apple", "github");
  await tab.press("PageDown");
  await shows(tab, "Nothing was linked at this moment.");
  await tab.press("PageUp");
  await linked("apple", "github");
  await tab.tabTo("Earlier");
  await tab.press("Enter");
  await linked("apple", "google", "github");
  await tab.reload();
  await tab.sees("heading", "Linked at this moment");
  await linked("apple", "google", "github");
  await tab.tabTo("Position or time");
  await tab.send("Input.insertText", { text: "next week" });
  await tab.press("Enter");
  await shows(tab, "Enter a position, such as 18, or a time");
  await tab.fill("Position or time", `#${history[2]}`);
  await tab.press("Enter");
  await linked("apple");
  await tab.check("an earlier moment");

  await tab.tabTo("Compare with now");
  await tab.press("Enter");
  await tab.sees("heading", "Added");
  assert.match((await tab.items("Added"))[0], /^\+ github .*linked at #\d+ by the account holder/);
  assert.match((await tab.items("Unchanged"))[0], /^apple/);
  await shows(tab, "3 events in between: 1 added, 0 removed.");
  assert.equal((await tab.items("Events in between")).length, 3);
  await tab.check("compare");
  await choose(tab, "From", history.at(-2));
  await tab.says("1 event in between: 0 added, 1 removed.");
  assert.match((await tab.items("Removed"))[0], /^− google/);
  await tab.holdAnswers(/\/diff\?/);
  await choose(tab, "From", history[0]);
  await tab.wait("held.length === 1");
  await tab.click("Swap");
  await shows(tab, "From is later than To.");
  assert.equal(await tab.evaluate(`document.getElementById("difference").ariaBusy`), null, "nothing is asked for any more");
  await tab.check("a difference that is reversed");
}));

test("answers for former moments are dropped", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  await link(account, "google");
  const tab = await staffTab(open, "support", `accounts/${account.id}/as-of`);
  await tab.sees("list", "Linked at this moment");
  await tab.holdAnswers(/as_of=/);
  await tab.tabTo("Moment");
  await tab.press("Home");
  await tab.wait("held.length === 1");
  await tab.press("End");
  await tab.release(1);
  const isLast = `document.querySelectorAll("[aria-label='Linked at this moment'] li").length === 2
    && !document.getElementById("moment-result").hasAttribute("aria-busy")`;
  await tab.wait(isLast);
  await tab.release(0);
  assert.ok(await tab.evaluate(isLast), "the answer for the former moment changes nothing");
}));

test("a timeline has pages of one order, of the last one that was chosen", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  for (const provider of ["google", "github"]) await link(account, provider);
  const history = (await admin("GET", `/v1/accounts/${account.id}/history`)).events.map(({ position }) => Number(position));
  assert.ok(history.length >= 4);
  const newest = [...history].reverse();
  const tab = await open();
  // Pages of two events.
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: `(() => {
    const real = fetch;
    globalThis.fetch = (path, init) => real(String(path).replace("timeline?limit=100", "timeline?limit=2"), init);
  })()` });
  await signInWith(tab, (await staffSession("support")).cookie);
  await visit(tab, `accounts/${account.id}`);
  const shown = async () => (await tab.items("Timeline")).map((row) => Number(/#(\d+)/.exec(row)[1]));
  const value = (label) => tab.evaluate(`[...document.querySelectorAll("select")].find((each) => each.labels[0]?.textContent === "${label}").value`);
  assert.deepEqual(await shown(), newest.slice(0, 2));
  await tab.holdAnswers(/\/timeline/);

  // An older page that comes after another order was shown belongs to no list.
  await tab.click("Load older");
  await tab.wait("held.length === 1");
  await choose(tab, "Order", "oldest");
  await tab.release(1);
  await tab.sees("button", "Load newer");
  assert.deepEqual(await shown(), history.slice(0, 2));
  await tab.release(0);
  assert.deepEqual(await shown(), history.slice(0, 2));
  await tab.click("Load newer");
  await tab.release(2);
  assert.deepEqual(await shown(), history.slice(0, 4));

  // Of two orders, the one that was chosen last is shown, whichever answer is the last.
  await choose(tab, "Order", "newest");
  await tab.wait("held.length === 4");
  assert.equal(await tab.evaluate("location.search"), "?order=oldest", "the address is that of what is shown");
  await choose(tab, "Order", "oldest");
  await tab.release(4);
  await tab.release(3);
  assert.deepEqual(await shown(), history.slice(0, 2));
  assert.equal(await tab.evaluate("location.search"), "?order=oldest");

  // Personal data are shown in the order that was chosen meanwhile, and complete.
  await tab.click("Show personal data");
  await tab.fill("Reason", "ticket 14");
  await tab.click("Show");
  await tab.wait("held.length === 6");
  await choose(tab, "Order", "newest");
  await tab.release(6);
  await tab.release(5);
  await tab.wait(`held.length === 8 && held[7].path.includes("disclose=true")`);
  await tab.release(7);
  await tab.says("Personal data are shown.");
  assert.deepEqual(await shown(), newest.slice(0, 2));
  assert.equal(await tab.evaluate(`document.querySelectorAll("[aria-label=Timeline] .personal").length`) > 0, true);

  // An order that is refused is not chosen.
  await tab.lose(["/timeline*"]);
  await choose(tab, "Order", "oldest");
  await tab.says("The server cannot be reached.", "alert");
  assert.equal(await value("Order"), "newest");
  assert.equal(await tab.evaluate("location.search"), "");
  assert.deepEqual(await shown(), newest.slice(0, 2));
}));

/** Puts a session into the tab, as a sign-in in another tab does. */
async function signInWith(tab, cookie) {
  const [name, value] = cookie.split("=");
  await tab.send("Network.setCookie", { name, value, url: base, path: "/", secure: true, httpOnly: true, sameSite: "Lax" });
}

/** Ends a session, as another tab does. */
async function end({ fields }) {
  const answer = await fetch(`${base}/console/sign-out`, {
    method: "POST", headers: { ...fields, "Content-Type": "application/json" }, body: "{}",
  });
  assert.equal(answer.status, 200);
}

test("a session that is over keeps what was typed, and goes on after a sign-in in another tab", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await open();
  const session = await staffSession("support");
  await signInWith(tab, session.cookie);
  await visit(tab, "search");
  await tab.fill("E-mail, provider's id or any id", account.id);
  await tab.fill("Reason", "typed before");
  await end(session);
  await tab.click("Search");
  await tab.says("Your session is over. Sign in again in another tab: what you have typed stays on this page.", "alert");
  await tab.check("a session that is over");
  assert.equal(await tab.evaluate(`lookup.find("textbox", "Reason").value`), "typed before");
  const address = new URL(await tab.evaluate(`lookup.find("link", "Sign in").href`));
  assert.equal(`${address.pathname}${address.search}`, "/console/sign-in?to=search");
  await signInWith(tab, (await staffSession("support")).cookie);
  await tab.lose(["/console/session"]);
  await tab.click("I have signed in");
  await tab.says("The server cannot be reached. Check your connection.");
  await tab.endInterception();
  await tab.click("I have signed in");
  await tab.says("You are signed in again.");
  await tab.click("Search");
  await tab.says("1 account, found by its id");
}));

test("after another person has signed in in another tab, nothing is done in their name", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await open();
  await signInWith(tab, (await staffSession("support")).cookie);
  await visit(tab, "search");
  await tab.fill("E-mail, provider's id or any id", account.id);
  await tab.fill("Reason", "typed before");
  const name = `Eve ${account.id.slice(0, 8)}`;
  await signInWith(tab, (await staffSession("admin", { name })).cookie);
  await tab.click("Search");
  await tab.wait(`document.body.innerText.includes(${JSON.stringify(name)})`, "the page of the other person");
}));

test("a session warns before it ends, and stays when asked to", () => withBrowser(async (open) => {
  const tab = await open();
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: `(() => {
    const real = setTimeout;
    globalThis.later = [];
    globalThis.setTimeout = (run, wait, ...rest) => {
      if (wait < 100_000) return real(run, wait, ...rest);
      later.push({ run, wait });
      return 0;
    };
  })()` });
  await signInWith(tab, (await staffSession("support")).cookie);
  await visit(tab, "search");
  await visit(tab, `accounts/${none}`);
  await tab.wait("later.length > 0");
  assert.equal(await tab.evaluate("later.at(-1).wait"), 1_680_000, "two minutes before the 30 of an idle session");
  await tab.evaluate("later.at(-1).run()");
  await tab.says("Your session ends at", "alert");
  await tab.check("the warning before the end");
  await tab.click("Stay signed in");
  await tab.says("You stay signed in.");
  assert.equal(await tab.evaluate(`document.querySelector("[role=alert]").textContent`), "");
}));

test("a clock that is ahead hastens neither the warning nor the question whether the session is over", () => withBrowser(async (open) => {
  const tab = await open();
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: `(() => {
    const [now, real] = [Date.now, setTimeout];
    Date.now = () => now() + 13 * 3_600_000;
    globalThis.later = [];
    globalThis.setTimeout = (run, wait, ...rest) => {
      if (wait < 10_000) return real(run, wait, ...rest);
      later.push({ run, wait });
      return 0;
    };
  })()` });
  await signInWith(tab, (await staffSession("support")).cookie);
  await visit(tab, "search");
  await tab.wait("later.length > 0");
  assert.equal(await tab.evaluate("later.at(-1).wait"), 1_680_000);
  assert.equal(await tab.evaluate(`document.querySelector("[role=alert]").textContent`), "");
  await tab.change("/console/session", (session) => { session.expires_in = 60; });
  const begin = tab.requests.length;
  await visit(tab, "search");
  for (let questions = 1; questions <= 2; questions += 1) {
    await tab.says("Your session ends at", "alert");
    await tab.wait(`later.length === ${questions}`);
    const wait = await tab.evaluate("later.at(-1).wait");
    assert.ok(wait > 10_000 && wait <= 61_000, `asks again after ${wait} ms`);
    const asked = tab.requests.slice(begin).filter(({ url }) => url.endsWith("/console/session"));
    assert.equal(asked.length, questions);
    if (questions === 1) await tab.evaluate("later.at(-1).run()");
  }
  await tab.endInterception();
}));

test("one of several roles is chosen, and changed in the bar", () => withBrowser(async (open) => {
  const tab = await staffTab(open, "auditor support", "search");
  await tab.sees("heading", "Choose a role");
  await tab.check("several roles");
  await tab.click("Auditor: reads everything but personal data");
  await tab.sees("heading", "Search");
  await shows(tab, "Auditors search by the id");
  await choose(tab, "Role", "support");
  await tab.sees("textbox", "Reason");
  await tab.lacks("link", "Access log");
  await tab.lose(["/console/role"]);
  await choose(tab, "Role", "auditor");
  await tab.says("The server did not do this.", "alert");
  assert.equal(await tab.evaluate(`document.querySelector("select[aria-label=Role]").value`), "support", "the role that counts");
}));

test("times are in UTC or local, which they say, and the choice stays", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await open();
  await tab.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kolkata" });
  await signInWith(tab, (await staffSession("auditor")).cookie);
  await visit(tab, `accounts/${account.id}`);
  assert.match((await tab.items("Timeline"))[0], /\d\d:\d\d:\d\d UTC /);
  await choose(tab, "Clock", "local");
  await tab.wait(`/ UTC\\+05:30/.test(lookup.items("Timeline")[0])`);
  assert.ok(await tab.evaluate(`[...document.querySelectorAll("main time")].every((time) => time.textContent.endsWith("UTC+05:30"))`));
  await tab.reload();
  await arrived(tab);
  assert.match((await tab.items("Timeline"))[0], /UTC\+05:30/);
}));

test("keys lead to search, conflicts and rows, and can be switched off", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "support", `accounts/${account.id}`);
  await tab.press("j");
  assert.equal(await tab.evaluate(`document.activeElement.closest("li").parentElement.getAttribute("aria-label")`), "Identities");
  await tab.press("j");
  assert.equal(await tab.evaluate(`document.activeElement.parentElement.getAttribute("aria-label")`), "Timeline");
  await tab.press("k");
  assert.equal(await tab.evaluate(`document.activeElement.parentElement.getAttribute("aria-label")`), "Identities");
  await tab.press("g");
  await tab.press("c");
  await tab.sees("heading", "Conflicts");
  await tab.press("/");
  await tab.sees("heading", "Search");
  await tab.press("/");
  assert.equal(await tab.focused(), "E-mail, provider's id or any id");
  await tab.evaluate(`document.querySelector("h1").focus()`);
  await tab.press("?");
  await tab.sees("dialog", "Keys");
  await tab.check("keys");
  await tab.evaluate(`document.getElementById("keys-on").click()`);
  await tab.click("Close");
  await tab.press("g");
  await tab.press("c");
  await tab.press("?");
  await tab.lacks("dialog", "Keys");
  assert.equal(await tab.evaluate("location.pathname"), "/console/search");
  // The first key of a document leads past the bar.
  await tab.reload();
  await arrived(tab);
  await tab.press("Tab");
  assert.equal(await tab.focused(), "Skip to the content");
  await tab.press("Enter");
  assert.equal(await tab.evaluate("document.activeElement.id"), "main");
}));

test("a failure has the request's id and a way on, and a busy server is waited for", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "support", "search");
  await tab.refuseOnce(`/v1/accounts/${account.id}`);
  await visit(tab, `accounts/${account.id}`);
  await tab.sees("list", "Timeline");
  await tab.lose([`/v1/accounts/${account.id}`]);
  await visit(tab, `accounts/${account.id}`);
  await shows(tab, "The server cannot be reached. Check your connection.");
  await tab.check("no connection");
  await tab.endInterception();
  await tab.click("Try again");
  await tab.sees("list", "Timeline");
  tab.onpaused = ({ requestId }) => tab.send("Fetch.fulfillRequest", {
    requestId, responseCode: 500, body: Buffer.from(`{"error":{"code":"LOG_DAMAGED","message":"x"}}`).toString("base64"),
    responseHeaders: [{ name: "X-Request-Id", value: none }, { name: "Content-Type", value: "application/json" }],
  });
  await tab.send("Fetch.enable", { patterns: [{ urlPattern: `*/v1/accounts/${account.id}*` }] });
  await visit(tab, `accounts/${account.id}`);
  await shows(tab, "The stored log is damaged here");
  await shows(tab, `Request ${none}`);
  await tab.check("a damaged log");
}));

test("an address without a page ends the loading of the view before it", () => withBrowser(async (open) => {
  const tab = await staffTab(open, "support", "search");
  const letGo = await tab.hold("/v1/overview?days=30");
  await tab.click("Overview", "link");
  await tab.wait(`document.getElementById("main").ariaBusy === "true"`);
  await tab.evaluate(`document.querySelector("main").append(Object.assign(document.createElement("a"),
    { href: "${base}/console/nowhere", textContent: "Go on" }))`);
  await tab.click("Go on", "link");
  await tab.sees("heading", "Not found");
  await letGo();
  assert.equal(await tab.evaluate(`document.getElementById("main").ariaBusy`), null);
  assert.equal(await tab.evaluate(`document.getElementById("loading").textContent`), "");
}));

test("keys do nothing before the sign-in", () => withBrowser(async (open) => {
  const tab = await open();
  await tab.open(`${base}/console/holds`);
  await tab.sees("link", "Sign in");
  for (const key of ["/", "g", "c"]) await tab.press(key);
  assert.equal(await tab.evaluate("location.pathname"), "/console/holds");
  await tab.sees("link", "Sign in");
}));

test("a view has at most three requests at a time, and one id", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "support", "search");
  const begin = tab.requests.length;
  await tab.evaluate(`document.querySelector("main").append(Object.assign(document.createElement("a"),
    { href: "accounts/${account.id}", textContent: "Go on" }))`);
  await tab.click("Go on", "link");
  await tab.sees("list", "Timeline");
  const requests = tab.requests.slice(begin).filter(({ url }) => url.includes("/v1/"));
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ headers }) => headers["X-Request-Id"])).size, 1);
  assert.ok(requests.every(({ headers }) => headers["Ledger-CSRF"]));
}));

test("the first view is light, and nothing comes from elsewhere", () => withBrowser(async (open) => {
  const tab = await open();
  await signInWith(tab, (await staffSession("support")).cookie);
  await visit(tab, "search");
  const addresses = tab.requests.map(({ url }) => url).filter((url) => !url.startsWith("data:"));
  const own = new Set(addresses.filter((url) => !/\/v1\/|\/console\/session$/.test(url)));
  assert.ok(own.size > 8 && own.size <= 12, [...own].join("\n"));
  const start = tab.requests.length;
  await visit(tab, "");
  const overview = new Set(tab.requests.slice(start).map(({ url }) => url).filter((url) => !/\/v1\/|\/console\/session$/.test(url)));
  assert.ok(overview.size > 8 && overview.size <= 12, [...overview].join("\n"));
  assert.deepEqual(addresses.filter((url) => !url.startsWith(`${base}/`)), []);
  let size = 0;
  for (const url of new Set(addresses)) size += (await (await fetch(url)).arrayBuffer()).byteLength;
  assert.ok(size <= 122_880, `${size} bytes`);
}));

test("texts of people and providers are texts, whatever they look like", () => withBrowser(async (open) => {
  const { caller } = await conflict();
  await link(caller, "github");
  await merge(caller, await signInBy("facebook"));
  const tab = await staffTab(open, "support", "search");
  const isFixed = (text) => /^([0-9]+(-[0-9]+)?|[0-9a-f-]{36}|\d{4}-\d\d-\d\dT.*Z)$/.test(text);
  const spoil = (value, name = "") => {
    if (typeof value === "string") return isFixed(value) || ["type", "state", "status"].includes(name) ? value : `${value}${hostile}`;
    if (Array.isArray(value)) return value.map((each) => spoil(each, name));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoil(each, key)]));
    return value;
  };
  await tab.change("/v1/*", (answer) => {
    for (const [name, value] of Object.entries(answer)) answer[name] = spoil(value, name);
  });
  for (const [path, sign] of [
    [`accounts/${caller.id}`, "Timeline"], [`accounts/${caller.id}/as-of`, "Linked at this moment"],
    [`accounts/${caller.id}/compare`, "Added"], [`accounts/${caller.id}/picture`, "The same as a table"],
  ]) {
    await visit(tab, path);
    await tab.sees("heading", sign);
    await tab.wait(`document.querySelector("main").textContent.includes(${JSON.stringify(hostile)})`, `${path} shows the text`);
    assert.equal(await tab.evaluate(`document.querySelectorAll("main img, main script").length`), 0, path);
  }
  await visit(tab, "search");
  await tab.fill("E-mail, provider's id or any id", caller.id);
  await tab.fill("Reason", hostile);
  await tab.click("Search");
  await tab.wait(`document.querySelector("#results").textContent.includes(${JSON.stringify(hostile)})`);
  await visit(tab, `accounts/${caller.id}`);
  await tab.click("Show personal data");
  await tab.fill("Reason", hostile);
  await tab.click("Show");
  await tab.wait(`document.querySelector(".personal")?.textContent.includes(${JSON.stringify(hostile)})`);
  assert.equal(await tab.evaluate(`document.querySelectorAll("img, main script").length`), 0);
  await tab.check("texts that look like elements");
}));
