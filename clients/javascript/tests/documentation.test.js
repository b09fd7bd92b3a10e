// Runs the examples of docs/javascript-client.md, one after another in one module.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { idToken, newName, proof, supportKey, url } from "./support.js";
import { AccountLedger } from "../account-ledger.js";

test("the examples of the documentation work", async () => {
  const page = await readFile(new URL("../../../docs/javascript-client.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  assert.ok(blocks.length >= 5);
  const names = { apple: newName(), google: newName() };
  await new AccountLedger({ url }).signIn("google", await proof("google", names.google));
  const shown = [];
  /** What the examples leave to the reader's app. */
  globalThis.app = {
    url, apiKey: supportKey, show: (value) => shown.push(value),
    idToken: (provider, nonce) => idToken(provider, names[provider], nonce),
    apiRequest: async (token) => assert.match(token, /^eyJ/),
    localStorage: memory(), locks: { request: (_, work) => work() },
  };
  const directory = await mkdtemp(join(tmpdir(), "account-ledger-"));
  try {
    const source = blocks.join("\n").replace("./account-ledger.js", new URL("../account-ledger.js", import.meta.url).href)
      .replaceAll("navigator.locks", "app.locks").replaceAll(/(?<!\.)\blocalStorage/g, "app.localStorage");
    await writeFile(join(directory, "examples.mjs"), source);
    await import(pathToFileURL(join(directory, "examples.mjs")).href);
  } finally {
    await rm(directory, { recursive: true });
  }
  assert.deepEqual(shown.map((value) => value.code ?? value.linked_providers ?? value.accounts.length),
    [["apple"], "PROVIDER_CONFLICT", ["google", "apple"], 2]);
});

function memory() {
  const items = new Map();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => items.set(name, value),
    removeItem: (name) => items.delete(name),
  };
}
