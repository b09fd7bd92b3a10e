// The browser as a witness: what it remembers of a log, and what it notices.

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import test from "node:test";
import { toBase64 } from "../../../Sources/CPageAssets/proof/bytes.mjs";
import { parseKey } from "../../../Sources/CPageAssets/proof/note.mjs";
import { Contradiction, needUnsealed, PinnedKey, Witness } from "../../../Sources/CPageAssets/proof/witness.mjs";
import { flipped, logKey, reference } from "./vectors.mjs";

const place = "https://ledger.example.com/";
const leavesOf = (count, salt = 0) => Array.from({ length: count }, (_, index) => reference.leaf([index, salt]));

class Storage {
  items = new Map();
  get length() { return this.items.size; }
  key(index) { return [...this.items.keys()][index] ?? null; }
  getItem(name) { return this.items.get(name) ?? null; }
  setItem(name, value) { this.items.set(name, value); }
  removeItem(name) { this.items.delete(name); }
}

async function signer(origin) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const typed = Buffer.concat([Buffer.of(1), publicKey.export({ format: "der", type: "spki" }).subarray(-32)]);
  const id = createHash("sha256").update(Buffer.concat([Buffer.from(`${origin}\n`), typed])).digest().subarray(0, 4);
  return {
    key: await parseKey(`${origin}+${id.toString("hex")}+${typed.toString("base64")}`),
    note(leaves, name = origin) {
      const text = `${name}\n${leaves.length}\n${toBase64(reference.root(leaves))}\n`;
      return `${text}\n— ${origin} ${Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]).toString("base64")}\n`;
    },
  };
}

const proves = (leaves) => async (old, size) => reference.consistency(Number(old), leaves.slice(0, Number(size)));
const never = async () => assert.fail("no proof is asked for");

test("the newest note is remembered per origin and key, and what follows must continue it", async () => {
  const storage = new Storage();
  const witness = new Witness(storage, place);
  const { key, note } = await signer("log.example");
  const leaves = leavesOf(42);
  assert.equal(await witness.recall(key), null);
  const first = await witness.observe(note(leaves.slice(0, 12)), key, "2026-11-03T00:00:00Z", never);
  assert.deepEqual(first, { former: null, size: 12n, since: "2026-11-03T00:00:00Z", firstSize: "12" });
  assert.equal((await witness.observe(note(leaves.slice(0, 12)), key, "later", never)).former, 12n);
  const second = await witness.observe(note(leaves.slice(0, 30)), key, "later", proves(leaves));
  assert.deepEqual(second, { former: 12n, size: 30n, since: "2026-11-03T00:00:00Z", firstSize: "12" });
  assert.equal((await witness.observe(note(leaves), key, "later", proves(leaves))).former, 30n);
  assert.equal((await witness.recall(key))?.checkpoint.size, 42n);
});

test("a log that was rolled back, forked or cut is noticed, and not remembered", async () => {
  const storage = new Storage();
  const witness = new Witness(storage, place);
  const { key, note } = await signer("log.example");
  const leaves = leavesOf(30);
  await witness.observe(note(leaves.slice(0, 20)), key, "t", never);
  const remembered = storage.getItem(storage.key(0));
  const forked = leavesOf(30, 1);
  const cases = [
    ["rolled back", note(leaves.slice(0, 19)), async () => null],
    ["rolled back, with the proof of another log", note(leaves.slice(0, 19)), proves(forked)],
    ["no proof of the continuation", note(leaves), async () => null],
    ["another log of the same size", note(forked.slice(0, 20)), never],
    ["another log that is longer, with its own proof", note(forked), proves(forked)],
    ["another log that is longer, with the proof of this one", note(forked), proves(leaves)],
    ["no proof", note(leaves), async () => []],
    ["a proof with a byte flipped", note(leaves), async (old, size) => (await proves(leaves)(old, size)).map((hash) => flipped(hash, 7))],
  ];
  for (const [what, next, prove] of cases) {
    await assert.rejects(witness.observe(next, key, "t", prove), Contradiction, what);
    assert.equal(storage.getItem(storage.key(0)), remembered, what);
  }
  await assert.rejects(witness.observe(note(leaves, "other.example"), key, "t", never), /none of the given keys/);
  await assert.rejects(witness.observe(note(leaves).replace("30", "31"), key, "t", never), /signature of key/);
  await witness.observe(note(leaves), key, "t", proves(leaves));
  // An answer that is older than another one, of the same log.
  const older = await witness.observe(note(leaves.slice(0, 25)), key, "t", proves(leaves));
  assert.deepEqual([older.former, older.size], [30n, 25n]);
  assert.equal((await witness.recall(key))?.checkpoint.size, 30n);
});

test("another key or log at the same address is told", async () => {
  const storage = new Storage();
  const [one, two] = [await signer("log.example"), await signer("log.example")];
  const leaves = leavesOf(3);
  await new Witness(storage, place).observe(one.note(leaves), one.key, "t", never);
  await new Witness(storage, "https://elsewhere.example/").observe(two.note(leaves), two.key, "t", never);
  const witness = new Witness(storage, place);
  assert.deepEqual(witness.others([one.key]), []);
  assert.deepEqual(witness.others([two.key]).map(({ vkey }) => vkey), [one.key.vkey]);
  storage.setItem("another item", "{");
  assert.equal(witness.others([two.key]).length, 1);
});

test("what another tab remembers meanwhile stays", async () => {
  const storage = new Storage();
  const witness = new Witness(storage, place);
  const { key, note } = await signer("log.example");
  const leaves = leavesOf(42);
  await witness.observe(note(leaves.slice(0, 12)), key, "t", never);
  await witness.observe(note(leaves.slice(0, 30)), key, "t", async (old, size) => {
    await new Witness(storage, place).observe(note(leaves), key, "t", proves(leaves));
    return proves(leaves)(old, size);
  });
  assert.equal((await witness.recall(key))?.checkpoint.size, 42n);
});

test("a damaged memory is told, and believed in nothing", async () => {
  const storage = new Storage();
  const witness = new Witness(storage, place);
  const { key, note } = await signer("log.example");
  const leaves = leavesOf(9);
  await witness.observe(note(leaves.slice(0, 5)), key, "t", never);
  const name = storage.key(0);
  const good = storage.getItem(name);
  for (const damaged of ["", "{", "null", "[]", "{}", good.replace(`\\n5\\n`, `\\n4\\n`), good.replace(/"note":"[^"]*"/, `"note":"x"`), "x".repeat(1 << 17)]) {
    storage.setItem(name, damaged);
    await assert.rejects(witness.observe(note(leaves), key, "t", proves(leaves)), { name: "Error" }, damaged.slice(0, 40));
    assert.equal(storage.getItem(name), damaged, "it is kept as evidence");
  }
});

test("a pinned key is kept for the address", async () => {
  const storage = new Storage();
  const pinned = new PinnedKey(storage, place);
  assert.equal(await pinned.read(), null);
  await assert.rejects(pinned.pin("log.example+00000000+AQ=="));
  assert.equal(await pinned.read(), null);
  assert.equal((await pinned.pin(` ${logKey}\n`)).vkey, logKey);
  assert.equal((await new PinnedKey(storage, place).read())?.vkey, logKey);
  assert.equal(await new PinnedKey(storage, "https://elsewhere.example/").read(), null);
  pinned.forget();
  assert.equal(await pinned.read(), null);
});

test("a position below a remembered size is sealed, whatever the server answers", async () => {
  const storage = new Storage();
  const witness = new Witness(storage, place);
  assert.deepEqual(await witness.remembered(), []);
  const { key, note } = await signer("log.example");
  await witness.observe(note(leavesOf(20)), key, "t", never);
  const other = await signer("other.example");
  await new Witness(storage, "https://other.example.com/").observe(other.note(leavesOf(30)), other.key, "t", never);
  const remembered = await witness.remembered();
  assert.deepEqual(remembered.map(({ origin, size }) => [origin, size]), [["log.example", 20n]]);
  for (const position of [0n, 19n]) assert.throws(() => needUnsealed(remembered, position), Contradiction);
  needUnsealed(remembered, 20n);
  needUnsealed([], 0n);
  storage.setItem(storage.key(0), storage.getItem(storage.key(0)).replace("\\n20\\n", "\\n21\\n"));
  await assert.rejects(witness.remembered(), /signature of key/);
});
