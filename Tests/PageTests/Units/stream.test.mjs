// Server-sent events, however their parts arrive.

import assert from "node:assert/strict";
import test from "node:test";
import { Messages } from "../../../Sources/CPageAssets/console/stream.mjs";

const stream = "retry: 2000\n\n: heartbeat\n\nid: 7-a\nevent: SignedIn\ndata: {\"position\":\"7\"}\n\nid: 12-b\n\nid: 13-c\nevent: x\ndata: {\ndata: }\n\n";
const expected = [
  { id: "7-a", event: "SignedIn", data: "{\"position\":\"7\"}" }, { id: "12-b", event: "", data: "" },
  { id: "13-c", event: "x", data: "{}" },
];

test("events are the same wherever the stream is cut", () => {
  for (let size = 1; size <= stream.length; size += 1) {
    const messages = new Messages();
    const found = [];
    for (let start = 0; start < stream.length; start += size) found.push(...messages.take(stream.slice(start, start + size)));
    assert.deepEqual(found, expected, `parts of ${size}`);
  }
});

test("an event that has not ended is not passed on, and an endless line ends the stream", () => {
  assert.deepEqual(new Messages().take("id: 1\ndata: {}\n"), []);
  const messages = new Messages();
  assert.throws(() => {
    for (let part = 0; part < 40; part += 1) messages.take("x".repeat(1 << 16));
  }, /too long/);
});
