// Scenario 11 of the console, and the exports and the access log of scenario 12: events are verified in the browser, which notices
// each change on the wire, and is a witness of the log.

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ask, conflict, signInBy } from "./accounts.mjs";
import { newName } from "./people.mjs";
import { staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

const sealSecondsMax = 60;

/** Waits for what a check says: the text of its status or of its alert, once it is there. */
const outcome = (tab) => tab.wait(`(() => {
  const [good, bad] = ["verdict", "refusal"].map((id) => document.getElementById(id)?.textContent ?? "");
  return good !== "Verifying" && (bad || good);
})()`, "the outcome of the check");

/** Presses a button of a check, again while no checkpoint covers the event. */
async function check(tab, button) {
  const end = Date.now() + sealSecondsMax * 1000;
  while (true) {
    await tab.click(button);
    const said = await outcome(tab);
    if (!said.startsWith("Not sealed yet")) return said;
    assert.ok(Date.now() < end, "no checkpoint covers the event");
  }
}

/** Opens the newest refused link of an account. */
async function openConflict(tab, account) {
  const [row] = await tab.items("Events");
  assert.match(row, /^#\d+ .* could not link google: another account has it .*ConflictRejected, refused, by the account holder/s);
  const position = /^#(\d+)/.exec(row)[1];
  await tab.click(`#${position}`, "link");
  await tab.sees("heading", `Event #${position}`);
  await tab.wait(`location.pathname.includes("/console/events/")`);
  assert.ok(await tab.evaluate(`document.querySelector("main").innerText.includes(${JSON.stringify(account.slice(0, 8))})`));
  return position;
}

/** Answers requests by handlers of their paths: with the answer as it is changed, or with a refusal. */
async function intercept(tab, handlers) {
  const onpaused = async ({ requestId, request, responseHeaders }) => {
    const { pathname } = new URL(request.url);
    const handler = handlers.find(([path]) => pathname.startsWith(path))?.[1];
    const { body } = await tab.send("Fetch.getResponseBody", { requestId });
    const changed = handler?.(JSON.parse(Buffer.from(body, "base64").toString()), request);
    if (!changed) {
      await tab.send("Fetch.continueRequest", { requestId });
      return;
    }
    await tab.send("Fetch.fulfillRequest", {
      requestId, responseCode: changed.status ?? 200,
      responseHeaders: responseHeaders.filter(({ name }) => name.toLowerCase() !== "content-length"),
      body: Buffer.from(JSON.stringify(changed.body)).toString("base64"),
    });
  };
  await tab.intercept(handlers.map(([path]) => ({ urlPattern: `${base}${path}*`, requestStage: "Response" })), onpaused);
}

/** Another letter of base64 in place of one. */
const otherLetter = (text, index) => text.slice(0, index) + (text[index] === "A" ? "B" : "A") + text.slice(index + 1);

/** An entry with a digit of a time changed. */
function otherEntry(base64) {
  const text = Buffer.from(base64, "base64").toString();
  return Buffer.from(text.replace(/(\d)Z"/, (_, digit) => `${(Number(digit) + 1) % 10}Z"`)).toString("base64");
}

/** A key of a forger, and a note that it has signed over a tree of one entry. */
function forgery(origin, entryBase64) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const typed = Buffer.concat([Buffer.of(1), publicKey.export({ format: "der", type: "spki" }).subarray(-32)]);
  const id = createHash("sha256").update(Buffer.concat([Buffer.from(`${origin}\n`), typed])).digest().subarray(0, 4);
  const hash = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
  return {
    vkey: `${origin}+${id.toString("hex")}+${typed.toString("base64")}`,
    proof(position) {
      let root = hash(Buffer.of(0), Buffer.from(entryBase64, "base64"));
      const path = [];
      const size = 2n ** 20n;
      for (let level = 0n; level < 20n; level += 1n) {
        const sibling = hash(Buffer.from(`sibling ${level}`));
        root = (BigInt(position) >> level) & 1n ? hash(Buffer.of(1), sibling, root) : hash(Buffer.of(1), root, sibling);
        path.push(sibling.toString("base64"));
      }
      const text = `${origin}\n${size}\n${root.toString("base64")}\n`;
      const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]).toString("base64");
      return { position, size: String(size), path, checkpoint: { origin, size: String(size), note: `${text}\n— ${origin} ${signature}\n` } };
    },
  };
}

test("an event is found by filters, opened and verified, and its bytes are at hand", () => withBrowser(async (open) => {
  const { caller } = await conflict();
  const tab = await staffTab(open, "auditor", `events?account=${caller.id}`);
  await tab.sees("heading", "Events");
  assert.ok((await tab.items("Events")).length >= 3);
  await tab.check("events");
  await tab.fill("Provider", "google");
  await tab.fill("Type", "ConflictRejected");
  await tab.click("Filter");
  await tab.wait(`location.search.includes("type=ConflictRejected") && location.search.includes("provider=google")`);
  await tab.wait(`document.querySelectorAll("ol[aria-label=Events] > li").length === 1`);
  const position = await openConflict(tab, caller.id);
  await tab.check("an event");
  const said = await check(tab, "Verify in this browser");
  assert.match(said, new RegExp(`^Verified: this entry is #${position} of the \\d+ that .* signed\\. This browser follows the log from now on`));
  assert.equal((await tab.items("Steps")).length, 3);
  for (const step of await tab.items("Steps")) assert.match(step, /^✓ /);
  await tab.evaluate(`document.querySelectorAll("details").forEach((each) => { each.open = true; })`);
  await tab.check("an event that is verified, with all bytes");
  await tab.lacks("link", "There is no event of this id.");

  await tab.open(`${base}/console/events/018f2c3a-0000-7000-8000-000000000000`);
  await tab.wait(`document.querySelector("main").innerText.includes("There is no event of this id.")`);
  await tab.check("no event");
  await tab.open(`${base}/console/events?type=LedgerRestored`);
  await tab.wait(`document.querySelector("main").innerText.includes("No event matches these filters.")`);
}));

test("an event that is changed on the wire is not verified, whatever is changed", () => withBrowser(async (open) => {
  const { caller } = await conflict();
  const tab = await staffTab(open, "support", `events?account=${caller.id}&type=ConflictRejected`);
  const position = await openConflict(tab, caller.id);
  assert.match(await check(tab, "Verify in this browser"), /^Verified/);
  const token = await tab.evaluate("fetch('/console/session').then((answer) => answer.json()).then(({ csrf_token }) => csrf_token)");
  const read = (path) => tab.evaluate(`fetch(${JSON.stringify(path)}, { headers: { "Ledger-CSRF": ${JSON.stringify(token)} } }).then((answer) => answer.json())`);
  const other = await read(`/v1/events/${(await read(`/v1/events?account=${caller.id}&type=SignedIn`)).events[0].event_id}`);
  const noteLines = (note) => note.split("\n");
  const changes = [
    ["the entry", 2, (answer) => { answer.entry_base64 = otherEntry(answer.entry_base64); }],
    ["the whole event for another one that is signed, too", 1, (answer) => Object.assign(answer, other)],
    ["entry and proof of another event", 1, (answer) => Object.assign(answer, { entry_base64: other.entry_base64, proof: other.proof })],
    ["the proof of another event", 1, (answer) => { answer.proof = other.proof; }],
    ["a hash of the path", 2, (answer) => { answer.proof.path[1] = otherLetter(answer.proof.path[1], 5); }],
    ["a hash less", 2, (answer) => { answer.proof.path.pop(); }],
    ["a hash more", 2, (answer) => { answer.proof.path.push(answer.proof.path[0]); }],
    ["the position of the proof", 1, (answer) => { answer.proof.position = String(Number(position) - 1); }],
    ["the size of the tree in the note", 2, (answer) => {
      const lines = noteLines(answer.proof.checkpoint.note);
      lines[1] = String(Number(lines[1]) * 4);
      answer.proof.checkpoint.note = lines.join("\n");
    }],
    ["the root in the note", 2, (answer) => {
      const lines = noteLines(answer.proof.checkpoint.note);
      lines[2] = otherLetter(lines[2], 3);
      answer.proof.checkpoint.note = lines.join("\n");
    }],
    ["the origin in the note", 3, (answer) => { answer.proof.checkpoint.note = answer.proof.checkpoint.note.replace(/^./, "x"); }],
    ["the signature", 3, (answer) => {
      const { note } = answer.proof.checkpoint;
      answer.proof.checkpoint.note = otherLetter(note, note.length - 20);
    }],
    ["no signature", 2, (answer) => { answer.proof.checkpoint.note = answer.proof.checkpoint.note.split("\n\n")[0]; }],
  ];
  const path = await tab.evaluate("location.pathname.replace('/console/', '/v1/')");
  for (const [what, step, change] of changes) {
    await intercept(tab, [[path, (answer) => {
      change(answer);
      return { body: answer };
    }]]);
    const said = await check(tab, "Verify in this browser");
    assert.match(said, new RegExp(`^Not verified: step ${step}, `), `${what}: ${said}`);
    assert.match(said, /tell your auditor/, what);
    if (what === "a hash of the path") {
      assert.match(said, /Expected.{44}Found.{44}/, "both values");
      assert.equal(await tab.evaluate("document.activeElement.id"), "refusal", "the focus is on the alert");
      await tab.check("an event that is not verified");
    }
  }
  // No proof of an event that a checkpoint, which this browser has seen, covers.
  await tab.endInterception();
  assert.match(await check(tab, "Verify in this browser"), /^Verified/);
  const unsealed = [path, ({ proof: _, ...answer }) => ({ body: { ...answer, no_proof: "NOT_SEALED_YET" } })];
  for (const more of [[], [["/v1/log/inclusion", () => ({ status: 409, body: { error: { code: "NOT_SEALED_YET", message: "none", details: {} } } })]]]) {
    await intercept(tab, [unsealed, ...more]);
    await tab.click("Verify in this browser");
    assert.match(await outcome(tab), /^Not verified: this browser's own record of the log: the log is shorter than the one that .*, and was rolled back/);
  }
  // Without a memory, the same answer is a calm one.
  await intercept(tab, [unsealed]);
  const memory = await tab.evaluate("JSON.stringify({ ...localStorage })");
  await tab.evaluate("localStorage.clear()");
  await tab.click("Verify in this browser");
  assert.match(await outcome(tab), /^Not sealed yet/);
  await tab.evaluate(`for (const [name, value] of Object.entries(JSON.parse(${JSON.stringify(memory)}))) localStorage.setItem(name, value)`);
  await tab.endInterception();
  // An invalid position in the address is ignored.
  await tab.evaluate("history.replaceState(null, '', location.pathname + '?position=first')");
  await tab.reload();
  assert.match(await check(tab, "Verify in this browser"), /^Verified/);
  await tab.evaluate("history.replaceState(null, '', location.pathname + '?position=0')");
  await tab.reload();
  assert.match(await check(tab, "Verify in this browser"), /^Not verified: step 1, leaf hash: the entry is of another position/);
  await tab.evaluate("history.replaceState(null, '', location.pathname)");
  await tab.reload();
  await tab.sees("heading", `Event #${position}`);
  // A key that has not signed.
  const forged = forgery(other.proof.checkpoint.origin, otherEntry((await read(path)).entry_base64));
  await intercept(tab, [["/v1/log/keys", () => ({ body: { keys: [{ vkey: forged.vkey, added_at: "2026-01-01T00:00:00.000000Z" }] } })]]);
  assert.match(await check(tab, "Verify in this browser"), /^Not verified: step 3, signature: none of the given keys/);
  const malformed = forged.vkey.replace(/\+[0-9a-f]{8}\+/, "+00000000+");
  await intercept(tab, [["/v1/log/keys", () => ({ body: { keys: [{ vkey: malformed, added_at: "2026-01-01T00:00:00.000000Z" }] } })]]);
  assert.match(await check(tab, "Verify in this browser"), /^Not verified: the key of the log/);

  // A server that forges all of it, key included, is told by the key that this browser has seen, and caught by a pasted one.
  const forge = [
    ["/v1/log/keys", () => ({ body: { keys: [{ vkey: forged.vkey, added_at: "2026-01-01T00:00:00.000000Z" }] } })],
    [path, (answer) => ({ body: { ...answer, entry_base64: otherEntry(answer.entry_base64), proof: forged.proof(position) } })],
  ];
  await intercept(tab, forge);
  assert.match(await check(tab, "Verify in this browser"), /^Verified/);
  assert.ok(await tab.evaluate(`document.querySelector("main").innerText.includes("by another key")`), "the key is another one");
  await tab.endInterception();
  const [{ vkey }] = (await read("/v1/log/keys")).keys;
  await tab.open(`${base}/console/log`);
  await tab.fill("Verifier key that you were given", "no key");
  await tab.click("Use this key");
  await tab.wait(`document.querySelector("main").innerText.includes("this is no verifier key")`);
  await tab.fill("Verifier key that you were given", vkey);
  await tab.click("Use this key");
  await tab.says("This is the key that the server states, too.");
  assert.equal(await tab.focused(), "Key");
  await tab.check("a pasted key");
  await tab.lose(["/v1/log/keys"]);
  await tab.click("Forget the pasted key");
  await tab.says("The server cannot be reached. Check your connection.", "alert");
  await tab.sees("button", "Forget the pasted key");
  await tab.endInterception();
  await tab.click("Forget the pasted key");
  await tab.says("The pasted key is forgotten.");
  await tab.fill("Verifier key that you were given", vkey);
  await tab.click("Use this key");
  await tab.says("This is the key that the server states, too.");
  await tab.open(`${base}${path.replace("/v1/", "/console/")}`);
  await tab.sees("heading", `Event #${position}`);
  await intercept(tab, forge);
  assert.match(await check(tab, "Verify in this browser"), /^Not verified: step 3, signature: none of the given keys/);
  await tab.endInterception();
  assert.match(await check(tab, "Verify in this browser"), /^Verified: .* and (it continues|it is the one)/);
  assert.ok(await tab.evaluate(`document.querySelector("main").innerText.includes("which you pasted")`));
}));

test("checkpoints continue each other, and a log that was rolled back is noticed", () => withBrowser(async (open) => {
  await signInBy("apple");
  const tab = await staffTab(open, "auditor", "log");
  await tab.sees("heading", "Newest checkpoint");
  await tab.wait(`document.querySelector("main").innerText.includes("This browser follows the log from now on")`);
  await tab.check("the log");
  const sizeOf = async () => /(\d+) events of/.exec(await tab.evaluate(`document.querySelector("main").innerText`))[1];
  const first = await sizeOf();
  const before = await tab.evaluate(`JSON.stringify({ ...localStorage })`);
  let size = first;
  const end = Date.now() + sealSecondsMax * 1000;
  while (size === first) {
    assert.ok(Date.now() < end, "no other checkpoint");
    await signInBy("google", newName());
    await tab.reload();
    await tab.sees("heading", "Newest checkpoint");
    size = await sizeOf();
  }
  assert.ok(await tab.evaluate(`document.querySelector("main").innerText.includes("(size ${first}), and it continues the one of")`));
  const said = await check(tab, "Verify");
  assert.match(said, new RegExp(`^Verified: (\\d+, )+${size} continue each other`));
  await tab.check("checkpoints that continue each other");
  // Checkpoints from before an accepted restore, and by a key that is retired, stay listed and are left out.
  const { origin } = JSON.parse(Object.values(JSON.parse(before)).find((each) => each.includes("firstSize")));
  const entry = Buffer.from("{}").toString("base64");
  const [otherLog, otherKey] = [`${origin}/former`, origin].map((each) => forgery(each, entry).proof("0").checkpoint);
  await intercept(tab, [["/v1/log/checkpoints", (answer) => ({ body: { ...answer, checkpoints: [otherLog, otherKey, otherKey, ...answer.checkpoints] } })]]);
  assert.match(await check(tab, "Verify"), new RegExp(`^Verified: (\\d+, )+${size} continue each other\\. `
    + "1 checkpoint of another log, .* not compared\\. 2 checkpoints not signed by the keys that count here"));
  await intercept(tab, [["/v1/log/checkpoints", (answer) => ({ body: { ...answer, checkpoints: answer.checkpoints.map((each) =>
    ({ ...each, note: otherLetter(each.note, each.note.length - 20) })) } })]]);
  assert.match(await check(tab, "Verify"), /^Not verified: the log: the signature of key/);
  await tab.endInterception();

  // The server forgets the newest events, as after a restore of its database.
  const older = JSON.parse(Object.values(JSON.parse(before)).find((each) => each.includes("firstSize"))).note;
  const rolledBack = [
    ["/v1/log/inclusion", (answer) => ({ body: { ...answer, checkpoint: { ...answer.checkpoint, note: older } } })],
    ["/v1/log/consistency", () => ({ status: 404, body: { error: { code: "SIZE_NOT_SIGNED", message: "none", details: {} } } })],
  ];
  await intercept(tab, rolledBack);
  await tab.reload();
  assert.match(await outcome(tab), /^Not verified: the log: the log is shorter than the one that this browser has seen, and was rolled back/);
  assert.ok((await outcome(tab)).includes(`the log of ${size} events`), "what was seen");
  assert.ok((await outcome(tab)).includes(`a log of ${first} events`), "what is there");
  await tab.check("a log that was rolled back");
  // A stale answer is no alert: its log is a prefix of the one that was seen.
  await intercept(tab, rolledBack.slice(0, 1));
  await tab.reload();
  await tab.wait(`document.querySelector("main").innerText.includes("this answer is older, and its beginning")`);
  // No checkpoint at all, though one was seen.
  const unsealed = () => ({ status: 409, body: { error: { code: "NOT_SEALED_YET", message: "none", details: {} } } });
  await intercept(tab, [["/v1/log/inclusion", unsealed]]);
  await tab.reload();
  assert.match(await outcome(tab), /^Not verified: the log: the log is shorter than the one that this browser has seen, and was rolled back/);
  await tab.check("a log that has no checkpoint any more");
  // A proof that does not hold.
  await tab.evaluate(`for (const name of Object.keys(localStorage)) localStorage.setItem(name, JSON.parse(${JSON.stringify(before)})[name] ?? localStorage.getItem(name))`);
  await intercept(tab, [["/v1/log/consistency", (answer) => ({ body: { ...answer, path: answer.path.map((hash) => otherLetter(hash, 2)) } })]]);
  await tab.reload();
  assert.match(await outcome(tab), new RegExp(`^Not verified: the log: the log does not continue the one of ${first} events`));
  await tab.endInterception();
  await tab.reload();
  await tab.wait(`document.querySelector("main").innerText.includes("and it continues the one of ${first} events")`);
  // A damaged record is told.
  await tab.evaluate(`for (const name of Object.keys(localStorage)) if (name.startsWith("ledger-witness")) localStorage.setItem(name, "{")`);
  await tab.reload();
  assert.match(await outcome(tab), /^Not verified: the log: what this browser remembers of the log is damaged/);
}));

test("the events are followed as they come, and wait while text is selected or it is paused", () => withBrowser(async (open) => {
  const ada = await signInBy("apple");
  const tab = await staffTab(open, "support", `events?account=${ada.id}`);
  await tab.sees("list", "Events");
  const count = (await tab.items("Events")).length;
  const rows = (wanted) => tab.wait(`document.querySelectorAll("ol[aria-label=Events] > li").length === ${wanted}`);
  const saysOf = (text) => tab.wait(`document.getElementById("follow-status").textContent.includes(${JSON.stringify(text)})`);
  await tab.click("Follow");
  await saysOf("Following");
  await signInBy("apple", ada.name);
  await rows(count + 1);
  assert.match((await tab.items("Events"))[0], /signed in with apple/);
  await tab.check("events that are followed");
  await tab.evaluate(`getSelection().selectAllChildren(document.querySelector("ol[aria-label=Events] .what"))`);
  await signInBy("apple", ada.name);
  await saysOf("Waiting while text is selected: 1 new event");
  await rows(count + 1);
  await tab.evaluate("getSelection().removeAllRanges()");
  await rows(count + 2);
  await tab.click("Pause");
  await signInBy("apple", ada.name);
  await saysOf("Paused: 1 new event");
  await tab.click("Pause");
  await rows(count + 3);
  await tab.click("Follow");
  await tab.wait(`document.getElementById("follow-status").textContent === ""`);
  await signInBy("apple", ada.name);
  await ask("GET", "/v1/providers");
  await rows(count + 3);
}));

test("Follow ends with its view, begins again after a refusal, and tells which events are missing", () => withBrowser(async (open) => {
  const ada = await signInBy("apple");
  const tab = await staffTab(open, "support", `events?account=${ada.id}`);
  const saysOf = (text) => tab.wait(`document.getElementById("follow-status")?.textContent.includes(${JSON.stringify(text)})`);
  const shows = (text) => tab.wait(`document.querySelector("main").innerText.includes(${JSON.stringify(text)})`);
  // The view is left while Follow asks where to begin.
  const letGo = await tab.hold("/v1/events?order=newest&limit=1");
  await tab.click("Follow");
  await tab.wait("performance.getEntriesByType('resource').length > 0");
  await tab.click("Search", "link");
  await tab.sees("heading", "Search");
  const answered = tab.responses.length;
  await letGo();
  while (!tab.responses.slice(answered).some(({ url }) => url.includes("limit=1"))) await tab.evaluate("new Promise(requestAnimationFrame)");
  // What came of it is over before the next view has come.
  await tab.click("Events", "link");
  await tab.sees("list", "Events");
  assert.ok(!tab.requests.some(({ url }) => url.includes("/v1/events/stream")), "a stream that was begun after its view");

  await tab.open(`${base}/console/events?account=${ada.id}`);
  await tab.sees("list", "Events");
  await tab.intercept([{ urlPattern: `${base}/v1/events/stream*` }], async ({ requestId }) => {
    await tab.send("Fetch.fulfillRequest", { requestId, responseCode: 403 });
    await tab.endInterception();
  });
  await tab.click("Follow");
  await saysOf("The server refuses to be followed");
  await tab.intercept([{ urlPattern: `${base}/v1/events/stream*` }], async ({ requestId }) => {
    await tab.send("Fetch.fulfillRequest", { requestId, responseCode: 401 });
    await tab.endInterception();
  });
  await tab.click("Follow");
  await tab.says("Your session is over.", "alert");
  await tab.click("I have signed in");
  await tab.says("You are signed in again.");
  await tab.intercept([{ urlPattern: `${base}/v1/events/stream*` }], async ({ requestId }) => {
    await tab.send("Fetch.fulfillRequest", { requestId, responseCode: 502 });
    await tab.endInterception();
  });
  await tab.click("Follow");
  await saysOf("The connection is lost; trying again");
  await saysOf("Following");
  await tab.click("Follow");

  // More events than a page came meanwhile.
  await tab.change("/v1/events?*limit=50*", (answer) => {
    const [event] = answer.events;
    answer.events = Array.from({ length: 50 }, (_, index) => ({ ...event, position: String(2_000_000 - index) }));
    answer.more = true;
  });
  await tab.click("Follow");
  await shows("More events than a page came between the opening of this list and Follow");
  await saysOf("Following");
  await tab.endInterception();
  await tab.check("events that are missing");
  await tab.click("Read the list again");
  await tab.wait(`!document.querySelector("main").innerText.includes("More events than a page")`);

  // More events wait than are kept.
  let holds;
  const stream = new Promise((resolve) => { holds = resolve; });
  await tab.intercept([{ urlPattern: `${base}/v1/events/stream*` }], (paused) => holds(paused));
  await tab.click("Follow");
  const { requestId } = await stream;
  await tab.click("Pause");
  const messages = Array.from({ length: 1_001 }, (_, index) => `id: ${3_000_000 + index}-x\ndata: {"position":"${3_000_000 + index}"}\n\n`);
  await tab.send("Fetch.fulfillRequest", {
    requestId, responseCode: 200, responseHeaders: [{ name: "Content-Type", value: "text/event-stream" }],
    body: Buffer.from(messages.join("")).toString("base64"),
  });
  await saysOf("Paused: 1000 new events");
  await shows("More than 1000 events waited");
}));

test("an auditor exports a bundle that holds, and finds the looks in the access log", () => withBrowser(async (open) => {
  const { caller } = await conflict();
  const tab = await staffTab(open, "auditor", `export?account=${caller.id}`);
  await tab.sees("heading", "Export");
  await tab.check("export");
  const saved = await mkdtemp(join(tmpdir(), "console-export-"));
  try {
    await tab.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: saved, browserContextId: tab.context });
    const said = async () => {
      await tab.click("Export");
      return tab.wait(`[...document.querySelectorAll("main [role=status], #alert")].map(({ textContent }) => textContent)
        .find((text) => text && text !== "Exporting")`, "the end of the export");
    };
    let text = await said();
    // Until the events of the account are signed.
    const end = Date.now() + sealSecondsMax * 1000;
    while (!text.startsWith("Exported")) {
      assert.ok(Date.now() < end, text);
      text = await said();
    }
    assert.match(text, new RegExp(`^Exported: account-${caller.id}\\.tar, \\d+ bytes\\. Verified here: everything holds up to seq .* `
      + "The key is only stated by this server\\. This browser follows the log from now on, from size \\d+\\.$"));
    await tab.check("an export");
    // Answers to exports pass by.
    const exporting = async (requestStage, onpaused, what, region) => {
      await tab.intercept([
        { urlPattern: `${base}/v1/exports`, requestStage }, { urlPattern: `${base}/v1/log/consistency*`, requestStage },
      ], onpaused);
      await tab.click("Export");
      await tab.wait(`document.querySelector(${JSON.stringify(region)}).textContent.includes(${JSON.stringify(what)})`);
      await tab.endInterception();
    };
    // A bundle that holds, of something else than was asked for.
    for (const [account, sent] of [["", { account_id: caller.id }], [caller.id, {}]]) {
      await tab.fill("Account", account);
      await exporting("Request", ({ requestId }) => tab.send("Fetch.continueRequest", {
        requestId, postData: Buffer.from(JSON.stringify(sent)).toString("base64"),
      }), "it is of something else than was asked for", "#alert");
      await tab.reload();
      await tab.sees("heading", "Export");
    }
    await tab.fill("Account", caller.id.toUpperCase());
    let older = "";
    await exporting("Response", async ({ requestId, request }) => {
      if (request.url.endsWith("/v1/exports")) older = (await tab.send("Fetch.getResponseBody", { requestId })).body;
      await tab.send("Fetch.continueRequest", { requestId });
    }, "The key is only stated by this server. This browser has followed the log since", "main");
    // An older bundle is one of the same log, unless the server can't prove that.
    for (text = ""; !text.includes("it continues the one of"); text = await said()) {
      assert.ok(Date.now() < end, text);
      await signInBy("apple");
    }
    for (const [isProved, what, region] of [
      [true, "this answer is older, and its beginning", "main"],
      [false, "it does not hold: the log is shorter than the one that this browser has seen, and was rolled back", "#alert"],
    ]) {
      await exporting("Response", ({ requestId, request, responseHeaders }) => {
        const isExport = request.url.endsWith("/v1/exports");
        if (isProved && !isExport) return tab.send("Fetch.continueRequest", { requestId });
        const none = Buffer.from(JSON.stringify({ error: { code: "SIZE_NOT_SIGNED", message: "none", details: {} } })).toString("base64");
        return tab.send("Fetch.fulfillRequest", {
          requestId, responseCode: isExport ? 200 : 404, body: isExport ? older : none,
          responseHeaders: responseHeaders.filter(({ name }) => !/^(content-length|transfer-encoding)$/i.test(name)),
        });
      }, what, region);
    }
    await tab.fill("Account", "no id");
    await tab.click("Export");
    await tab.wait(`document.querySelector("main").innerText.includes("This is no id of an account.")`);
    // A bundle that breaks off is not saved.
    await tab.fill("Account", caller.id);
    await tab.intercept([{ urlPattern: `${base}/v1/exports`, requestStage: "Response" }], async ({ requestId, responseHeaders }) => {
      const { body } = await tab.send("Fetch.getResponseBody", { requestId });
      const bytes = Buffer.from(body, "base64");
      await tab.send("Fetch.fulfillRequest", {
        requestId, responseCode: 200, responseHeaders: responseHeaders.filter(({ name }) => !/^(content-length|transfer-encoding)$/i.test(name)),
        body: bytes.subarray(0, bytes.length / 2).toString("base64"),
      });
    });
    await tab.click("Export");
    await tab.says("The bundle is not saved, because it does not hold", "alert");
    await tab.endInterception();
  } finally {
    // Chromium may still write a part of a download.
    await rm(saved, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  await tab.open(`${base}/console/access-log`);
  await tab.sees("heading", "Access log");
  const rows = await tab.items("Accesses");
  assert.ok(rows.some((row) => /auditor|admin/.test(row) && /exported a bundle/.test(row) && row.includes(caller.id.slice(0, 8))), rows.join("\n"));
  await tab.check("the access log");
  const who = await tab.evaluate(`document.querySelector("ol[aria-label=Accesses] a").textContent`);
  await tab.click(who, "link");
  await tab.wait(`location.search.startsWith("?principal=")`);
  // The former view may have rows of one person alone, too.
  await tab.sees("link", "Without filters");
  await tab.wait(`[...document.querySelectorAll("ol[aria-label=Accesses] > li")].every((row) => row.querySelector("a")?.textContent === ${JSON.stringify(who)})`);
  await tab.fill("By", "operator");
  await tab.fill("From", "2020-01-01T00:00:00Z");
  await tab.fill("To", "2020-01-02T00:00:00Z");
  await tab.click("Filter");
  await tab.wait(`document.querySelector("main").innerText.includes("No access matches")`);
  await tab.check("no accesses");
}));
