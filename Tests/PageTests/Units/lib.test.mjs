// The modules of both pages without a page: waits for a busy server, passkeys that the browser refuses, and faults of fields.

import assert from "node:assert/strict";
import test from "node:test";
import { Api } from "../../../Sources/CPageAssets/lib/api.mjs";
import { field, form } from "../../../Sources/CPageAssets/lib/form.mjs";
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

/** Makes elements that keep their attributes, listeners and texts, and know which one has the focus. */
function pretendDocument(t) {
  const former = globalThis.document;
  t.after(() => { globalThis.document = former; });
  const made = { focused: null };
  made.createElement = () => {
    const element = { attributes: {}, listeners: {}, textContent: "", value: "", append() {} };
    element.setAttribute = (name, value) => { element.attributes[name] = value; };
    element.removeAttribute = (name) => { delete element.attributes[name]; };
    element.addEventListener = (name, listener) => { element.listeners[name] = listener; };
    element.focus = () => { made.focused = element; };
    Object.defineProperty(element, "required", { get: () => "required" in element.attributes });
    return element;
  };
  globalThis.document = made;
  return made;
}

test("a form is sent once every field accepts what was typed, which stays as it is", (t) => {
  const made = pretendDocument(t);
  const isDigits = (text) => /^\d+$/.test(text) ? "" : "These are no digits";
  const [name, number, other] = [field("Name", {}), field("Number", {}, "A hint", isDigits), field("Other", {}, undefined, isDigits)];
  let sent = 0;
  const node = form({ fields: [name, number, other], submit: "Send", missing: "This is missing", onsubmit: () => { sent += 1; } });
  const submit = () => node.listeners.submit({ preventDefault() {} });
  Object.assign(number.input, { value: "seven" });
  submit();
  assert.equal(made.focused, name.input, "what is missing comes first");
  for (const each of [name, other]) Object.assign(each.input, { value: "a" });
  submit();
  assert.equal(made.focused, number.input);
  assert.deepEqual([number.input.attributes["aria-invalid"], other.input.attributes["aria-invalid"]], ["true", undefined]);
  assert.deepEqual([sent, number.value], [0, "seven"]);
  for (const each of [number, other]) Object.assign(each.input, { value: "7" });
  submit();
  assert.deepEqual([sent, number.input.attributes["aria-invalid"]], [1, undefined]);
});
