// What the console's modules compute without a page: words, times, steps, pictures, addresses.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import test from "node:test";
import { caseFault, noteFault, reasonFault, reasonHeader } from "../../../Sources/CPageAssets/console/dialogs.mjs";
import { ago, count, isID, list, shortID, timeText } from "../../../Sources/CPageAssets/console/format.mjs";
import { holdings, letter, partiesOf } from "../../../Sources/CPageAssets/console/picture.mjs";
import { signInAgain } from "../../../Sources/CPageAssets/console/repair-steps.mjs";
import { repairSentence } from "../../../Sources/CPageAssets/console/repair-words.mjs";
import { routeOf, routes } from "../../../Sources/CPageAssets/console/frame.mjs";
import { ConsoleApi, newID } from "../../../Sources/CPageAssets/console/session.mjs";
import { momentOf, stepAt } from "../../../Sources/CPageAssets/console/steps.mjs";
import { mergedAt } from "../../../Sources/CPageAssets/console/timeline.mjs";
import { summary as differenceSummary, unchanged } from "../../../Sources/CPageAssets/console/view-compare.mjs";
import { heldBy } from "../../../Sources/CPageAssets/console/view-owner.mjs";
import {
  actorWords, eventTypes, forbiddenSentence, reasonWords, refusalSentence, rowSentence, saidByVerb, sentence,
} from "../../../Sources/CPageAssets/console/words.mjs";

const sources = new URL("../../../Sources/", import.meta.url);
const golden = new URL("../../LedgerTests/Golden/", import.meta.url);
const source = (path) => readFile(new URL(path, sources), "utf8");

test("every type of event has a name and a sentence, of each golden entry too", async () => {
  const event = await source("Ledger/Events/Event.swift");
  const names = [...event.matchAll(/^ +case \w+ = "(\w+)"$/gm)].map(([, name]) => name);
  assert.ok(names.length > 30);
  assert.deepEqual(Object.keys(eventTypes).sort(), names.sort());
  for (const file of await readdir(golden)) {
    const entry = JSON.parse(await readFile(new URL(file, golden), "utf8"));
    const text = sentence(entry);
    assert.doesNotMatch(text, /undefined|null|_|\[object/, file);
    assert.notEqual(text, eventTypes[entry.type], `${file} has a verb of its own`);
    if (entry.details.provider) assert.ok(text.includes(entry.details.provider), `${file}: ${text}`);
  }
});

test("verbs of entries are those of the API", async () => {
  const folder = new URL("Ledger/Events/", sources);
  const words = new Set();
  for (const file of await readdir(folder)) {
    const text = await readFile(new URL(file, folder), "utf8");
    for (const [, verb] of text.matchAll(/(?:var verb: String \{|^ +case [^:\n]*:) "([^"]+)"/gm)) words.add(verb);
  }
  assert.ok(words.has("could not link") && words.has("got recovery codes"));
  const own = { was: 0 };
  for (const file of await readdir(golden)) {
    const entry = JSON.parse(await readFile(new URL(file, golden), "utf8"));
    const text = sentence({ ...entry, details: { ...entry.details, provider: undefined } }).split(":")[0];
    if ([...words].some((verb) => text === verb || text.startsWith(verb))) own.was += 1;
    else assert.match(text, /^The ledger|by support|^stopped the unlink of|^keeps its last way|^lost with its address/, `${file}: ${text}`);
  }
  assert.ok(own.was > 30);
});

test("every reason code has words, or its verb says it", async () => {
  const folder = new URL("Ledger/Events/", sources);
  for (const file of await readdir(folder)) {
    const text = await readFile(new URL(file, folder), "utf8");
    const name = file.replace(".swift", "");
    if (!eventTypes[name]) continue;
    const enums = [...text.matchAll(/enum (?:Reason|Cause|Basis|Word): String[^{]*\{([\s\S]*?)\n    \}/g)];
    const codes = enums.flatMap(([, body]) => [...body.matchAll(/case `?(\w+)`?(?: = "(\w+)")?$/gm)].map(([, one, two]) => two ?? one));
    const constant = /static let reason = "(\w+)"/.exec(text)?.[1];
    for (const code of [...codes, ...(constant ? [constant] : [])]) {
      if (code === "asked") continue;
      const words = reasonWords(name, code);
      assert.ok(words || saidByVerb.includes(code), `${name}.${code}`);
      assert.ok(!words.includes("_"), words);
    }
  }
  assert.equal(rowSentence({ type: "ConflictRejected", verb: "could not link", provider: "google", reason: "held_by_other" }),
    "could not link google: another account has it");
  assert.equal(rowSentence({ type: "SignedIn", verb: "signed in with", provider: "apple", reason: "constructor" }), "signed in with apple");
  assert.equal(sentence({ type: "Unheard", details: {} }), "Unheard");
});

test("every code of the API that staff can meet has a sentence", async () => {
  const codes = new Set([...(await source("LedgerWire/ErrorCode.swift")).matchAll(/case \w+ = "([A-Z_]+)"/g)].map(([, code]) => code));
  assert.ok(codes.size > 30, `${codes.size} codes`);
  // Those of account holders and of requests that the console's modules never send.
  const others = new Set([
    "ADDRESS_UNUSED", "INVALID_ACCESS_TOKEN", "INVALID_CODE", "INVALID_PASSWORD", "INVALID_PROVIDER_TOKEN", "INVALID_REFRESH_TOKEN",
    "WEAK_PASSWORD",
    "LENGTH_REQUIRED", "METHOD_NOT_ALLOWED", "UNSUPPORTED_MEDIA_TYPE",
  ]);
  const general = refusalSentence({ code: "UNHEARD", status: 400 });
  for (const code of codes) {
    if (!others.has(code)) assert.notEqual(refusalSentence({ code, status: 400 }), general, code);
  }
  assert.equal(refusalSentence({ code: "toString", status: 400 }), general);
  assert.equal(forbiddenSentence(["support", "admin"]), "Only support and administrators may do this.");
});

test("times name their clock, and keep every decimal", () => {
  const time = "2026-11-21T23:17:50.859123Z";
  assert.equal(timeText(time, "full", "utc"), "21 Nov 2026 23:17:50 UTC");
  assert.equal(timeText(time, "exact", "utc"), "21 Nov 2026 23:17:50.859123 UTC");
  assert.equal(timeText(time, "clock", "utc"), "23:17:50 UTC");
  assert.equal(timeText(time, "near", "utc"), "21 Nov 2026 23:17 UTC");
  assert.match(timeText(time, "full", "local"), /^2[12] Nov 2026 \d\d:\d\d:50 UTC[+−]\d\d:\d\d$/);
  assert.equal(timeText("<img>", "full", "utc"), "<img>");
  assert.equal(ago("2026-11-21T21:10:00Z", Date.parse("2026-11-21T23:17:50Z")), "2 hours ago");
  assert.equal(ago("2026-11-21T23:17:50Z", Date.parse("2026-11-21T23:17:40Z")), "less than a minute ago");
});

test("ids are short, numbers and lists are words", () => {
  assert.equal(shortID("01a1fb40-0000-7000-8000-000000005dc4"), "01a1fb40…5dc4");
  assert.equal(shortID("<b>"), "<b>");
  assert.ok(!isID("01a1fb40-0000-7000-8000-000000005dc4x"));
  assert.match(newID(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const begin = Date.now();
  const made = parseInt(newID().replaceAll("-", "").slice(0, 12), 16);
  assert.ok(begin <= made && made <= Date.now(), `${made} is the time`);
  assert.equal(count("1", "event"), "1 event");
  assert.equal(count(2, "identity", "identities"), "2 identities");
  assert.equal(list(["a", "b", "c"]), "a, b and c");
});

test("reasons are ASCII as they are, and others as RFC 8187 has them", () => {
  assert.deepEqual(reasonHeader(" ticket 7 "), { "Ledger-Reason": "ticket 7" });
  assert.deepEqual(reasonHeader("Müller's"), { "Ledger-Reason": "UTF-8''M%C3%BCller%27s" });
  assert.deepEqual(reasonHeader("UTF-8''x"), { "Ledger-Reason": "UTF-8''UTF-8%27%27x" });
});

test("what is typed with a change is measured as the API measures it", async () => {
  const most = async (path, name) => Number(new RegExp(`${name}(?: =|:) ([\\d_]+)`).exec(await source(path))?.[1].replace("_", ""));
  const reasonMax = await most("Ledger/Values/AccessReason.swift", "charactersMax");
  const caseMax = await most("LedgerAPI/Native/Routes/Merges/SupportMergeRoutes.swift", "name: \"case\", bytesMax");
  const noteMax = await most("Ledger/Conflicts/ConflictReview.swift", "noteBytesMax");
  for (const nothing of ["  ", "\u200b", "\u2060 \ufeff"]) assert.equal(reasonFault(nothing), "Enter a reason");
  for (const mark of ["x", "é", "😀"]) {
    assert.equal(reasonFault(mark.repeat(reasonMax)), "");
    assert.match(reasonFault(mark.repeat(reasonMax + 1)), /too long: 256 of at most 255 characters/);
  }
  for (const mark of ["\t", "\u202e", "\u2028", "\ud800", "\ue000"]) assert.match(reasonFault(`ticket${mark}7`), /control character/);
  assert.equal(caseFault(` ${"~".repeat(caseMax)} `), "");
  assert.match(caseFault("T".repeat(caseMax + 1)), /too long: 129 of at most 128/);
  for (const text of ["Fall Müller", "T–7", "T\t7"]) assert.match(caseFault(text), /letters without accents/);
  assert.equal(noteFault("é".repeat(noteMax / 2)), "");
  assert.match(noteFault("é".repeat(noteMax / 2 + 1)), /too long: 1002 of at most 1000 bytes/);
  assert.match(noteFault("a\tb"), /control character/);
});

test("moments are positions or times, of the clock that is shown", () => {
  assert.equal(momentOf(" #18 ", "utc"), "18");
  assert.equal(momentOf("2026-11-21 23:17", "utc"), "2026-11-21T23:17:00Z");
  assert.equal(momentOf("2026-11-21T23:17:50.859123Z", "local"), "2026-11-21T23:17:50.859123Z");
  assert.equal(momentOf("2026-11-21 23:17:50 UTC", "local"), "2026-11-21T23:17:50Z");
  assert.equal(momentOf("2026-11-21 23:17+02:00", "utc"), "2026-11-21T21:17:00Z");
  assert.equal(momentOf("2026-11-21", "utc"), "2026-11-21T00:00:00Z");
  for (const text of ["", "yesterday", "2026-02-31", "2026-11-21 25:00", "-1", "1".repeat(19)]) assert.equal(momentOf(text, "utc"), null, text);
  const rows = [["1", "00.000001"], ["9", "00.000002"], ["12", "01.000000"]].map(([position, seconds]) =>
    ({ position, recorded_at: `2026-11-21T00:00:${seconds}Z` }));
  assert.deepEqual(["0", "1", "10", "99"].map((moment) => stepAt(rows, moment)), [-1, 0, 1, 2]);
  assert.equal(stepAt(rows, "2026-11-21T00:00:00.000001Z"), 0);
  assert.equal(stepAt(rows, "2026-11-21T00:00:00.5Z"), 1);
  assert.equal(stepAt(rows, "2026-11-20T00:00:00Z"), -1);
});

const google = { identity_id: "g", provider: "google" };
const apple = { identity_id: "a", provider: "apple" };
const row = (position, type, accounts) => ({ position: String(position), type, accounts });
const life = [
  row(1, "ProviderLinked", [{ account: "one", before: [], after: [google] }]),
  row(2, "SignedIn", [{ account: "one", before: [google], after: [google] }]),
  row(3, "AccountsMerged", [{ account: "one", before: [google], after: [google, apple] }, { account: "two", before: [apple], after: [] }]),
  row(4, "SignedIn", [{ account: "one", before: [google, apple], after: [google, apple] }]),
  row(5, "AccountsUnmerged", [{ account: "one", before: [google, apple], after: [google] }, { account: "two", before: [], after: [apple] }]),
  row(6, "ProviderUnlinked", [{ account: "two", before: [apple], after: [] }]),
];

test("a picture has a span for each time that an account held an identity", () => {
  const { columns, lanes } = holdings(life);
  assert.deepEqual(columns.map(({ position }) => position), ["1", "3", "5", "6"]);
  assert.deepEqual(lanes, [
    { identity: "g", provider: "google", spans: [{ account: "one", from: 0, until: null, change: "" }] },
    { identity: "a", provider: "apple", spans: [
      { account: "two", from: null, until: 1, change: "AccountsMerged" }, { account: "one", from: 1, until: 2, change: "AccountsUnmerged" },
      { account: "two", from: 2, until: 3, change: "ProviderUnlinked" },
    ] },
  ]);
  assert.deepEqual(partiesOf(lanes, "one"), ["one", "two"]);
  assert.deepEqual([0, 25, 26].map(letter), ["A", "Z", "AA"]);
  const mark = (position, type) => ({ position, type, recorded_at: "", event_id: "" });
  const one = heldBy("g", [
    { account: "one", from: mark("9", "ProviderLinked"), until: mark("10", "ProviderUnlinked") },
    { account: "two", from: mark("100", "ProviderLinked") },
  ]);
  assert.deepEqual(one.columns.map(({ position }) => position), ["9", "10", "100"]);
  assert.deepEqual(one.lanes[0].spans.map(({ from, until }) => [from, until]), [[0, 1], [2, null]]);
});

test("bands begin at a merge and end when it is undone, in both orders and on pages", () => {
  const sets = [[], [], ["two"], ["two"], ["two"], []];
  assert.deepEqual(mergedAt(life, { isNewestFirst: false, absorbed: [] }), sets);
  assert.deepEqual(mergedAt([...life].reverse(), { isNewestFirst: true, absorbed: [] }), [...sets].reverse());
  const newest = life.slice(3).reverse();
  assert.deepEqual(mergedAt(newest, { isNewestFirst: true, absorbed: [] }), [[], ["two"], ["two"]], "the merge is on an older page");
  assert.deepEqual(mergedAt(life.slice(0, 4).reverse(), { isNewestFirst: true, absorbed: ["two"] }), [["two"], ["two"], [], []]);
  assert.deepEqual(mergedAt([life[3]], { isNewestFirst: true, absorbed: ["two"] }), [["two"]], "it is still one");
});

test("differences say what was added, removed and unchanged", () => {
  const answer = { after: { links: [google, apple] }, added_links: [apple], removed_links: [], events: [1, 2], more: false };
  assert.deepEqual(unchanged(answer), [google]);
  assert.equal(differenceSummary(answer), "2 events in between: 1 added, 0 removed.");
  assert.equal(differenceSummary({ ...answer, events: [] }), "No events in between: nothing changed.");
});

test("addresses lead to views, and others to none", async () => {
  assert.equal(routeOf("accounts/x/as-of")?.route.module, "view-as-of.mjs");
  assert.deepEqual(routeOf("accounts/a%2Fb")?.params, { id: "a/b" });
  assert.deepEqual(routeOf("accounts/x/disable")?.params, { act: "disable", id: "x" });
  assert.equal(routeOf("")?.route.title, "Overview");
  assert.equal(routeOf("conflicts/")?.route.title, "Conflicts");
  for (const path of ["accounts", "accounts/", "nowhere", "accounts/x/y/z", "events/%ZZ/x"]) assert.equal(routeOf(path), null, path);
  const files = await readdir(new URL("CPageAssets/console/", sources));
  for (const { module } of routes) assert.ok(files.includes(module), module);
});

test("actors are words", () => {
  assert.equal(actorWords({ kind: "staff", role: "support" }), "by staff, support");
  assert.equal(actorWords({ type: "account" }), "by the account holder");
  assert.equal(actorWords(null), "");
});

/** Answers requests in turn; returns those that were made. */
function answering(t, ...answers) {
  const requests = [];
  t.mock.method(globalThis, "fetch", async (address, options) => {
    requests.push({ address, ...options });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return requests;
}

const refusing = (status, code, headers = {}) => new Response(JSON.stringify({ error: { code, message: "refused" } }), { status, headers });
const root = "https://ledger.example.com/t/acme/";

function signedIn() {
  const api = new ConsoleApi(root);
  api.session = { csrf_token: "former", staff: { id: "sam", role: "auditor" } };
  return api;
}

test("a download is asked for as every other request is", async (t) => {
  const renewed = Response.json({ csrf_token: "renewed", staff: { id: "sam", role: "auditor" } });
  const requests = answering(t, refusing(503, "UNAVAILABLE", { "Retry-After": "0.01" }), refusing(403, "FORBIDDEN"), renewed, new Response("tar"));
  const api = signedIn();
  const blob = await api.download("v1/exports", { account_id: "one" });
  assert.equal(await blob.text(), "tar");
  assert.deepEqual(requests.map(({ method, address, headers }) => [method, address.slice(root.length), headers["Ledger-CSRF"]]), [
    ["POST", "v1/exports", "former"], ["POST", "v1/exports", "former"], ["GET", "console/session", undefined], ["POST", "v1/exports", "renewed"],
  ]);
  assert.equal(requests[3].body, '{"account_id":"one"}');
});

test("a download tells the end of the session, waits for its turn, and is whole or none", async (t) => {
  const broken = new Response(new ReadableStream({ pull(controller) { controller.error(new Error("broken off")); } }));
  const requests = answering(t, refusing(401, "INVALID_API_KEY"), broken, new Response("tar"));
  const api = signedIn();
  let overs = 0;
  api.onover = () => { overs += 1; };
  await assert.rejects(api.download("v1/exports", {}), { code: "INVALID_API_KEY" });
  assert.equal(overs, 1);
  await assert.rejects(api.download("v1/exports", {}), { code: "NETWORK" });
  for (let place = 0; place < 3; place += 1) await api.enter();
  const waiting = api.download("v1/exports", {});
  assert.equal(requests.length, 2);
  api.leave();
  assert.equal((await waiting).size, 3);
});

test("only a change whose answer was lost may have been made", async (t) => {
  const lost = new TypeError("lost");
  const cases = [
    ["POST", "v1/accounts/one/merges", true], ["DELETE", "v1/accounts/one/erasure?plan=x", true], ["PUT", "v1/accounts/one/holds/x", true],
    ["POST", "v1/accounts/one/merges/preview", false], ["POST", "v1/search", false], ["GET", "v1/accounts/one", false],
  ];
  answering(t, ...cases.map(() => lost));
  for (const [method, path, mayHaveActed] of cases) {
    const error = await signedIn().call(method, path, {}).catch((each) => each);
    assert.equal(error.code, "NETWORK");
    const text = repairSentence(error) ?? refusalSentence(error);
    assert.equal(/the change may have been made/.test(text), mayHaveActed, `${method} ${path}: ${text}`);
  }
});

test("another sign-in leads back to the view, behind every path of a proxy", () => {
  for (const [base, to] of [
    ["https://ledger.example.com/", "accounts/one/erase?case=7"], ["https://ledger.example.com/t/console/", "accounts/one/merge"],
    ["https://example.com/console/ledger/", ""],
  ]) {
    const address = new URL(signInAgain(base, `${base}console/${to}#main`));
    assert.equal(address.href.split("?")[0], `${base}console/sign-in`);
    assert.deepEqual(Object.fromEntries(address.searchParams), { fresh: "1", to });
  }
});
