// Requests that one person hands over to another, and the plans of support that they confirm, without a page.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { repairSentence } from "../../../Sources/CPageAssets/console/repair-words.mjs";
import { later, ofRequest, requestFault, requestOf, requestSeconds } from "../../../Sources/CPageAssets/console/second-person.mjs";
import { kinds, planEvent, planHoursMax } from "../../../Sources/CPageAssets/console/support-plans.mjs";
import { endedSessions, keepOf, requestView } from "../../../Sources/CPageAssets/console/view-merge.mjs";
import { eventTypes } from "../../../Sources/CPageAssets/console/words.mjs";
import { Refused } from "../../../Sources/CPageAssets/lib/api.mjs";

const request = "staff:01a1fb40-0000-8000-8000-000000005dc4.AAZZ_-09";
const query = new URLSearchParams({ identity: "one", request });

test("a request is read as it is, and in its address", () => {
  for (const text of [request, ` ${request}\n`, `https://ledger.example.com/console/accounts/x/unlink?${query}`, `accounts/x/unlink?${query}`]) {
    assert.equal(requestOf(text), request);
    assert.equal(requestFault(text), "");
  }
  const others = ["", "T-7", request.split(".")[0], `${request} x`, `account${request.slice(5)}`, "https://ledger.example.com/console/?identity=one"];
  for (const text of others) assert.match(requestFault(text), /neither a request nor its address/, text);
});

test("a request is valid for as long as the ledger says", async () => {
  const source = await readFile(new URL("../../../Sources/Ledger/Commands/TwoPersonStep.swift", import.meta.url), "utf8");
  assert.equal(requestSeconds, Number(/requestLifetimeSeconds: Int64 = (\d+)/.exec(source)?.[1]));
  assert.equal(later(requestSeconds, Date.parse("2026-11-21T23:17:50.859123Z")), "2026-11-22T00:17:50.859Z");
});

test("requests that are no longer valid, and those of one's own, have sentences of their own", async () => {
  const refused = (code) => Promise.reject(new Refused({ status: 409, code }));
  const sentences = new Set();
  for (const code of ["UNDO_REQUEST_CHANGED", "MERGE_REQUEST_CHANGED", "CONFIRM_REQUEST_CHANGED"]) {
    const error = await ofRequest(refused("MERGE_PLAN_CHANGED"), code).catch((each) => each);
    assert.equal(error.code, code);
    assert.match(repairSentence(error), /^The request can no longer be confirmed: .* Nothing was changed\./);
    sentences.add(repairSentence(error));
    await assert.rejects(ofRequest(refused("ACCOUNT_DISABLED"), code), { code: "ACCOUNT_DISABLED" });
    assert.equal(await ofRequest(Promise.resolve(7), code), 7);
  }
  assert.equal(sentences.size, 3);
  assert.match(repairSentence({ code: "SECOND_PERSON_REQUIRED" }), /^You asked for this yourself\. Another person has to confirm it\./);
});

test("the address of a request to merge has the choices that it is of", () => {
  const keep = { google: "absorbed", apple: "survivor", "a&b": "absorbed" };
  const view = requestView("one", "two", keep, request);
  const [path, query] = view.split("?");
  assert.equal(path, "accounts/one/merge");
  const read = new URLSearchParams(query);
  assert.equal(read.get("absorb"), "two");
  assert.equal(requestOf(`https://ledger.example.com/console/${view}`), request);
  assert.deepEqual(keepOf(read), { google: "absorbed", "a&b": "absorbed" });
  assert.deepEqual(keepOf(new URLSearchParams("absorb=two")), {});
});

test("a merge says whose sessions end", () => {
  const plan = (kept, opened_by) => ({ kept: kept.map((identity_id) => ({ identity_id })), sessions_end: { opened_by } });
  assert.equal(endedSessions(plan(["a"], [])), "");
  assert.match(endedSessions(plan(["a"], ["b"])), /an identity which is left behind/);
  // With its first second factor, or where none of its identities stays.
  for (const all of [plan(["a", "b"], ["c", "a", "b"]), plan([], ["a"])]) {
    assert.match(endedSessions(all), /All sessions of the account that stays end/);
  }
});

test("the event of a plan is the one of the same identity or factor, and of the same time", async () => {
  const [now, then] = ["2026-11-22T10:00:00.000000Z", "2026-11-21T10:00:00.000000Z"];
  for (const kind of Object.values(kinds)) {
    assert.ok(eventTypes[kind.type], kind.type);
    const plan = (thing, due, type = "staff") => ({ entry: { actor: { type }, details: { [kind.member]: thing, due } } });
    const events = { e1: plan("own", then), e2: plan("other", now), e3: plan("own", now), e4: { entry: null } };
    const paths = [];
    const rows = ["e4", "e2", "e3", "e1"].map((event_id) => ({ type: kind.type, event_id }));
    const api = { call: async (_, path) => {
      paths.push(path);
      return path.startsWith("v1/events/") ? events[path.slice(10)] : { rows: [{ type: "SignedIn", event_id: "e5" }, ...rows] };
    } };
    const find = (due) => planEvent(api, { kind, account: "a", id: "own", due });
    assert.equal(await find(now), events.e3);
    assert.deepEqual(paths, ["v1/accounts/a/timeline?order=newest&limit=1000", "v1/events/e4", "v1/events/e2", "v1/events/e3"]);
    assert.equal(await find(then), events.e1);
    assert.equal(await find("2026-11-23T10:00:00.000000Z"), null);
    events.e3 = plan("own", now, "system");
    assert.equal(await find(now), null, "a plan of the command line");
  }
});

test("the event of a plan is found after any number of later ones, and not sought before a plan could have been made", async () => {
  const source = await readFile(new URL("../../../Sources/Ledger/Values/TenantPolicy.swift", import.meta.url), "utf8");
  assert.equal(planHoursMax, Number(/supportDelayHoursRange: ClosedRange<Int64> = 1\.\.\.(\d+)/.exec(source)?.[1]));
  const kind = kinds.unlink;
  const [due, made, before] = ["2026-11-22T10:00:00.000001Z", "2026-11-15T10:00:00.000001Z", "2026-11-15T09:59:59.999999Z"];
  const event = { entry: { actor: { type: "staff" }, details: { identity: "own", due } } };
  const later = Array.from({ length: 1_000 }, () => ({ type: "SignedIn", event_id: "e", recorded_at: made }));
  const read = async (pages) => {
    const cursors = [];
    const api = { call: async (_, path) => {
      if (path.startsWith("v1/events/")) return event;
      cursors.push(new URLSearchParams(path.split("?")[1]).get("before"));
      return pages[cursors.length - 1];
    } };
    return [await planEvent(api, { kind, account: "a", id: "own", due }), cursors];
  };
  const full = (next) => ({ rows: later, more: true, next });
  const last = { rows: [{ type: kind.type, event_id: "e1", recorded_at: made }], more: false };
  assert.deepEqual(await read([full("9-9"), full("8-9"), last]), [event, [null, "9-9", "8-9"]]);
  assert.deepEqual(await read([full("9-9"), { rows: [], more: false }]), [null, [null, "9-9"]]);
  const old = { rows: [{ type: kind.type, event_id: "e0", recorded_at: before }], more: true, next: "7-9" };
  assert.deepEqual(await read([full("9-9"), old]), [null, [null, "9-9"]]);
});
