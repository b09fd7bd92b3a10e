// The modules of both pages without a page: waits for a busy server, and passkeys that the browser refuses.

import assert from "node:assert/strict";
import test from "node:test";
import { Api } from "../../../Sources/CPageAssets/lib/api.mjs";
import { follow } from "../../../Sources/CPageAssets/console/stream.mjs";

const inSeconds = (seconds) => new Date(Date.now() + seconds * 1_000).toUTCString();
const waits = [["7", 7, 7], [() => inSeconds(10), 8, 10], [() => inSeconds(-10), 0, 0], ["soon", 0, 0], ["-1", 0, 0], [null, 0, 0]];

/** Answers each request with a status and a `Retry-After`. */
function answer(t, status, value) {
  const after = typeof value === "function" ? value() : value;
  t.mock.method(globalThis, "fetch", async () =>
    new Response("{}", { status, headers: after === null ? {} : { "Retry-After": after } }));
}

test("a request that is refused says after how many seconds it may be repeated", async (t) => {
  for (const [value, least, most] of waits) {
    answer(t, 429, value);
    const error = await new Api().call("GET", "http://ledger.example/v1/account").catch((refused) => refused);
    assert.ok(error.retryAfter >= least && error.retryAfter <= most, `${value}: ${error.retryAfter}`);
  }
});

test("a stream that is refused for a time is asked for after it, and never at once", async (t) => {
  globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
  for (const [value, least, most] of waits) {
    answer(t, 503, value);
    const wait = await new Promise((resolve) => {
      t.mock.method(globalThis, "setTimeout", (_, milliseconds) => resolve(milliseconds));
      follow({ address: () => "http://ledger.example", headers: () => ({}), after: "0", onmessage() {}, onstate() {} });
    });
    t.mock.restoreAll();
    assert.ok(wait >= Math.max(1, least) * 1_000 && wait <= Math.max(1, most) * 1_000, `${value}: ${wait}`);
  }
});

test("a person who cancels a passkey is no failure, and everything else has its code", async () => {
  const fail = (name) => async () => { throw new DOMException("refused", name); };
  globalThis.PublicKeyCredential = { parseCreationOptionsFromJSON: (json) => json, parseRequestOptionsFromJSON: (json) => json };
  const credentials = {};
  Object.defineProperty(globalThis, "navigator", { value: { credentials }, configurable: true });
  const { createPasskey, usePasskey } = await import("../../../Sources/CPageAssets/lib/passkeys.mjs");
  for (const [name, code] of [
    ["NotAllowedError", null], ["AbortError", null], ["InvalidStateError", "PASSKEY_EXISTS"], ["SecurityError", "PASSKEY_FAILED"],
    ["NotSupportedError", "PASSKEY_FAILED"], ["ConstraintError", "PASSKEY_FAILED"],
  ]) {
    credentials.create = fail(name);
    credentials.get = fail(name);
    const found = [createPasskey, usePasskey].map((work) => work({}).catch((error) => error.code));
    // A passkey that exists is a fault of its making alone.
    assert.deepEqual(await Promise.all(found), [code, name === "InvalidStateError" ? "PASSKEY_FAILED" : code], name);
  }
});
