// The verification in the browser: RFC 6962, signed notes, proofs and entries, by published and golden vectors.

import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import test from "node:test";
import { toBase64, toHex, toUTF8 } from "../../../Sources/CPageAssets/proof/bytes.mjs";
import { parseEntry } from "../../../Sources/CPageAssets/proof/entry.mjs";
import { verifyEvent } from "../../../Sources/CPageAssets/proof/event.mjs";
import { openCheckpoint, parseCheckpoint, parseKey, parseNote } from "../../../Sources/CPageAssets/proof/note.mjs";
import { checkConsistency, checkInclusion, leafHash, Tree } from "../../../Sources/CPageAssets/proof/rfc6962.mjs";
import { formatProof } from "../../../Sources/CPageAssets/proof/tlog-proof.mjs";
import { entries, flipped, logKey, note, origin, reference, roots, witnessKey } from "./vectors.mjs";

const golden = new URL("../../LedgerTests/Golden/", import.meta.url);
const leaves = entries.map(reference.leaf);
const fails = async (body, what) => {
  try {
    await body();
  } catch (error) {
    assert.equal(error.constructor.name, "Fault", `${what}: ${error.stack}`);
    return error;
  }
  assert.fail(`accepted: ${what}`);
};

test("roots are those of Certificate Transparency, however leaves are appended", async () => {
  for (let size = 0; size <= 8; size += 1) {
    for (let first = 0; first <= size; first += 1) {
      const tree = new Tree();
      await tree.append(leaves.slice(0, first));
      await tree.append(leaves.slice(first, size));
      assert.equal(tree.size, BigInt(size));
      assert.ok(toHex(await tree.root()).startsWith(roots[size]), `${size} leaves, ${first} of them first`);
    }
  }
  assert.equal(toHex(await leafHash(entries[3])), toHex(leaves[3]));
});

test("every proof of trees of up to 40 leaves holds, and none for another position, size or root", async () => {
  const many = Array.from({ length: 40 }, (_, index) => reference.leaf([index]));
  for (let size = 1; size <= 40; size += 1) {
    const root = reference.root(many.slice(0, size));
    for (let position = 0; position < size; position += 1) {
      const path = reference.path(position, many.slice(0, size));
      const proof = { position: BigInt(position), size: BigInt(size), leaf: many[position], path, root };
      await checkInclusion(proof);
      await fails(() => checkInclusion({ ...proof, path: [...path, root] }), "one hash more");
      await fails(() => checkInclusion({ ...proof, position: BigInt(size) }), "a position after the end");
      await fails(() => checkInclusion({ ...proof, position: -1n }), "a position before the beginning");
      await fails(() => checkInclusion({ ...proof, leaf: root, path: [] , size: BigInt(size + 1) }), "the root as a leaf");
      if (size > 1) {
        await fails(() => checkInclusion({ ...proof, path: path.slice(1) }), "one hash less");
        await fails(() => checkInclusion({ ...proof, position: BigInt((position + 1) % size) }), "another position");
      }
      const old = position + 1;
      const growth = {
        old: BigInt(old), size: BigInt(size), path: reference.consistency(old, many.slice(0, size)), root,
        oldRoot: reference.root(many.slice(0, old)),
      };
      await checkConsistency(growth);
      await fails(() => checkConsistency({ ...growth, oldRoot: many[0].map((byte) => byte ^ 1) }), "another old root");
      await fails(() => checkConsistency({ ...growth, root: many[0].map((byte) => byte ^ 1) }), "another root");
      await fails(() => checkConsistency({ ...growth, path: [...growth.path, root] }), "one hash more");
      await fails(() => checkConsistency({ ...growth, size: BigInt(old - 1) }), "a smaller tree");
      for (let index = 0; index < growth.path.length; index += 1) {
        const path = growth.path.with ? growth.path.with(index, many[39]) : growth.path.map((each, i) => (i === index ? many[39] : each));
        if (toHex(growth.path[index]) !== toHex(many[39])) {
          await fails(() => checkConsistency({ ...growth, path }), `another hash ${index}`);
        }
      }
    }
  }
  const empty = reference.root([]);
  await checkConsistency({ old: 0n, size: 0n, path: [], oldRoot: empty, root: empty });
  await checkConsistency({ old: 0n, size: 8n, path: [], oldRoot: empty, root: leaves[0] });
  await fails(() => checkConsistency({ old: 0n, size: 8n, path: [], oldRoot: leaves[0], root: leaves[0] }), "no empty root");
  await fails(() => checkInclusion({ position: 0n, size: 1n << 62n, leaf: leaves[0], path: Array(64).fill(leaves[0]), root: empty }), "64 hashes");
});

test("the proofs of the vector hold, and not with any byte flipped", async () => {
  const path = reference.path(5, leaves);
  assert.deepEqual(path.map((hash) => toHex(hash).slice(0, 8)), ["bc1a0643", "ca854ea1", "d37ee418"]);
  const growth = reference.consistency(6, leaves);
  assert.deepEqual(growth.map((hash) => toHex(hash).slice(0, 8)), ["0ebc5d34", "ca854ea1", "d37ee418"]);
  const root = reference.root(leaves);
  const inclusion = { position: 5n, size: 8n, leaf: leaves[5], path, root };
  const consistency = { old: 6n, size: 8n, path: growth, oldRoot: reference.root(leaves.slice(0, 6)), root };
  await checkInclusion(inclusion);
  await checkConsistency(consistency);
  for (let index = 0; index < 32; index += 1) {
    await fails(() => checkInclusion({ ...inclusion, root: flipped(root, index) }), `root ${index}`);
    await fails(() => checkInclusion({ ...inclusion, leaf: flipped(leaves[5], index) }), `leaf ${index}`);
    await fails(() => checkConsistency({ ...consistency, root: flipped(root, index) }), `root ${index}`);
    await fails(() => checkConsistency({ ...consistency, oldRoot: flipped(consistency.oldRoot, index) }), `old root ${index}`);
    for (let hash = 0; hash < 3; hash += 1) {
      const change = (list) => list.map((each, number) => (number === hash ? flipped(each, index) : each));
      await fails(() => checkInclusion({ ...inclusion, path: change(path) }), `path ${hash} ${index}`);
      await fails(() => checkConsistency({ ...consistency, path: change(growth) }), `growth ${hash} ${index}`);
    }
  }
  const fault = await fails(() => checkInclusion({ ...inclusion, root: flipped(root, 0) }), "values");
  assert.equal(fault.found, toBase64(root), "the message has both values");
  assert.equal(fault.expected, toBase64(flipped(root, 0)));
});

test("the checkpoint of the vector opens, its cosignature ignored as unknown", async () => {
  const key = await parseKey(logKey);
  const { checkpoint, signers, note: parsed } = await openCheckpoint(note, [key]);
  assert.deepEqual([checkpoint.origin, checkpoint.size, toHex(checkpoint.root)], [origin, 8n, roots[8]]);
  assert.deepEqual(signers.map(({ vkey }) => vkey), [logKey]);
  assert.deepEqual(parsed.signatures.map(({ id }) => id), ["8c78cf65", "718e134e"]);
  await fails(() => parseKey(witnessKey), "a cosignature key");
  await fails(() => openCheckpoint(note, []), "no key");
});

test("no byte of the signed note can change but in signatures of unknown keys", async () => {
  const key = await parseKey(logKey);
  const bytes = toUTF8(note);
  const cosignature = bytes.length - toUTF8(note.slice(note.lastIndexOf("— witness"))).length;
  for (let index = 0; index < cosignature; index += 1) {
    for (const mask of [0x01, 0x20, 0x80]) {
      await fails(() => openCheckpoint(flipped(bytes, index, mask), [key]), `byte ${index} with ${mask}`);
    }
  }
  const other = generateKeyPairSync("ed25519");
  const forged = sign(null, Buffer.from(note.slice(0, note.indexOf("\n\n") + 1)), other.privateKey);
  const line = `— ${origin} ${Buffer.concat([Buffer.from("8c78cf65", "hex"), forged]).toString("base64")}\n`;
  await fails(() => openCheckpoint(note.slice(0, note.indexOf("—")) + line, [key]), "signed by another key under the id");
  await fails(() => openCheckpoint(note + line, [key]), "one more signature under the id, which is wrong");
});

test("keys have one spelling, and their id", async () => {
  assert.equal((await parseKey(logKey)).id, "8c78cf65");
  for (let index = 0; index < logKey.length; index += 1) {
    const changed = logKey.slice(0, index) + (logKey[index] === "x" ? "y" : "x") + logKey.slice(index + 1);
    await fails(() => parseKey(changed), changed);
  }
  for (const vkey of ["", "++", "log+00000000+AQ==", `x${logKey}`, `${logKey}=`, logKey.slice(0, -1), ` ${logKey}`,
    logKey.replace("8c78cf65", "8C78CF65"), `${"n".repeat(2_000)}${logKey}`]) {
    await fails(() => parseKey(vkey), vkey);
  }
});

test("malformed notes and checkpoints are refused, as in the ledger", async () => {
  for (const malformed of [
    "", "\n", "\n\n", "text\n\n", "text\n", "text\n— n AAAAAAA=\n", "text\n\n— n AAAAAAA=", "te\tt\n\n— n AAAAAAA=\n",
    "text\r\n\r\n— n AAAAAAA=\r\n", "te\0t\n\n— n AAAAAAA=\n", "text\n\n- n AAAAAAA=\n", "text\n\n—n AAAAAAA=\n",
    "text\n\n— nAAAAAAA=\n", "text\n\n—  AAAAAAA=\n", "text\n\n— n AAAAAAA= \n", "text\n\n— n b AAAAAAA=\n",
    "text\n\n— n+b AAAAAAA=\n", "text\n\n— n\u00a0b AAAAAAA=\n", "text\n\n— n\u0085b AAAAAAA=\n", "text\n\n— n AAAAAAA\n",
    "text\n\n— n AAAAAA==\n", "text\n\n— n AAAAA_8=\n", "text\n\n— n AAAAAAB=\n", "text\n\n— n AAAAAAA=\nmore\n",
    `${"a".repeat(1 << 20)}\n\n— n AAAAAAA=\n`, `text\n\n${"— n AAAAAAA=\n".repeat(101)}`,
  ]) await fails(() => parseNote(malformed), JSON.stringify(malformed.slice(0, 40)));
  await fails(() => parseNote(Uint8Array.of(0xc3, ...toUTF8("text\n\n— n AAAAAAA=\n"))), "no UTF-8");
  assert.equal(parseNote(`text\n\n${"— n AAAAAAA=\n".repeat(100)}`).signatures.length, 100);
  const root = toBase64(reference.root([]));
  for (const text of [
    "", "\n", "o\n", "o\n1\n", `o\n1\n${root}`, `\n1\n${root}\n`, `o\n\n1\n${root}\n`, `o\n1\n${root}\n\n`, `o o\n1\n${root}\n`,
    `o+\n1\n${root}\n`, `o\n01\n${root}\n`, `o\n+1\n${root}\n`, `o\n-1\n${root}\n`, `o\n 1\n${root}\n`, `o\n1.0\n${root}\n`,
    `o\n٣\n${root}\n`, `o\n9223372036854775808\n${root}\n`, "o\n1\nAAAA\n", `o\n1\n${root}=\n`, `o\n0\n${toBase64(leaves[0])}\n`,
  ]) await fails(() => parseCheckpoint(text), JSON.stringify(text));
  assert.equal((await parseCheckpoint(`o\n9223372036854775807\n${root}\nmore\n`)).size, (1n << 63n) - 1n);
});

test("a .tlog-proof has its position, path and note", () => {
  const path = reference.path(5, leaves);
  assert.equal(path.length, 3);
  assert.equal(
    formatProof({ position: 5n, path, note }),
    `c2sp.org/tlog-proof@v1\nindex 5\n${path.map((hash) => Buffer.from(hash).toString("base64")).join("\n")}\n\n${note}`);
});

test("every golden entry is read as its bytes have it, and none with a byte more, less or flipped to another form", async () => {
  const names = (await readdir(golden)).filter((name) => name.endsWith(".json"));
  assert.ok(names.length > 30);
  for (const name of names) {
    const bytes = new Uint8Array(await readFile(new URL(name, golden)));
    const entry = parseEntry(bytes);
    assert.ok(name.startsWith(`${entry.type}.`) && name.endsWith(`.v${entry.version}.json`), name);
    assert.equal(JSON.stringify(entry.value), new TextDecoder().decode(bytes));
    await fails(() => parseEntry(bytes.slice(0, -1)), "one byte less");
    await fails(() => parseEntry(Uint8Array.of(...bytes, 0x20)), "a space");
    await fails(() => parseEntry(Uint8Array.of(...bytes, 0x0a)), "a newline");
  }
  const text = await readFile(new URL("ConflictRejected.v1.json", golden), "utf8");
  for (const [what, changed] of [
    ["a duplicate member", text.replace(`"v":"1"`, `"v":"1","v":"1"`)], ["a space", text.replace(`"v":`, `"v": `)],
    ["another order", text.replace(`"type":"ConflictRejected","v":"1"`, `"v":"1","type":"ConflictRejected"`)],
    ["an escape", text.replace("google", "g\\u006fogle")], ["a number", text.replace(`"v":"1"`, `"v":1`)],
    ["a true", text.replace(`"request":"0190a1b2-c3d4-7000-8000-000000000007"`, `"request":true`)],
    ["a member less", text.replace(`"outcome":"refused",`, "")], ["a member more", text.replace(`"v":"1"`, `"v":"1","w":"1"`)],
    ["no ASCII", text.replace("google", "gööglé")], ["a leading zero", text.replace(`"1041"`, `"01041"`)],
    ["another outcome", text.replace("refused", "perhaps")], ["an unsorted digest", text.replace(`"AQEB`, `"AwMD`)],
    ["no prev after the first", text.replace(/"prev":"[^"]*"/, `"prev":null`)], ["a nested text", `{"_sd":${"[".repeat(20_000)}`],
    ["deep lists", text.replace(`"google"`, `${"[".repeat(3_000)}${"]".repeat(3_000)}`)], ["nothing", ""],
    ["65,536 bytes", text.replace("google", "g".repeat(65_536))],
  ]) await fails(() => parseEntry(toUTF8(changed)), what);
});

/** A log of its own that signs golden entries, to tamper with what a server would answer. */
async function signedLog() {
  const entry = new Uint8Array(await readFile(new URL("ConflictRejected.v1.json", golden)));
  const all = Array.from({ length: 1_050 }, (_, index) => (index === 1_041 ? reference.leaf(entry) : reference.leaf([index & 255, index >> 8])));
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const typed = Buffer.concat([Buffer.of(1), raw]);
  const { createHash } = await import("node:crypto");
  const id = createHash("sha256").update(Buffer.concat([Buffer.from("log.example\n"), typed])).digest().subarray(0, 4);
  const text = `log.example\n1050\n${toBase64(reference.root(all))}\n`;
  const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]).toString("base64");
  const key = await parseKey(`log.example+${id.toString("hex")}+${typed.toString("base64")}`);
  return {
    entry, key,
    claim: {
      event: "0190a1b2-c3d4-7000-8000-000000000005", position: 1_041n, entryBase64: toBase64(entry), keys: [key],
      origin: "log.example",
      proof: {
        position: "1041", path: reference.path(1_041, all).map((hash) => toBase64(hash)),
        note: `${text}\n— log.example ${signature}\n`,
      },
    },
  };
}

test("an event is verified by three steps, and names the step and both values when one fails", async () => {
  const { claim, entry, key } = await signedLog();
  const verdict = await verifyEvent(claim);
  assert.equal(verdict.isVerified, true, verdict.fault?.stack);
  assert.deepEqual(verdict.steps.map(({ name, isOk }) => [name, isOk]),
    [["leaf hash", true], ["path to the root", true], ["signature", true]]);
  assert.equal(verdict.entry?.type, "ConflictRejected");
  assert.equal(verdict.checkpoint?.size, 1_050n);
  const failsAt = async (change, step, text) => {
    const { isVerified, steps, fault, entry: shown, checkpoint } = await verifyEvent({ ...claim, ...change });
    assert.equal(isVerified, false, text);
    assert.equal(steps.length, step, `${text}: ${fault}`);
    assert.equal(shown, undefined, "nothing is shown as verified");
    assert.equal(checkpoint, undefined);
    assert.match(String(fault?.message), new RegExp(text));
    return fault;
  };
  const another = await failsAt({ event: "0190a1b2-c3d4-7000-8000-000000000006" }, 1, "another event");
  assert.equal(another.found, "0190a1b2-c3d4-7000-8000-000000000005");
  await failsAt({ position: 1_042n }, 1, "another position");
  await failsAt({ proof: { ...claim.proof, position: "1042" } }, 1, "for another position");
  await failsAt({ proof: { ...claim.proof, path: claim.proof.path.slice(1) } }, 2, "too few|another root");
  await failsAt({ proof: { ...claim.proof, note: "x" } }, 2, "no signatures");
  await failsAt({ proof: { ...claim.proof, note: note } }, 2, "no such position");
  await failsAt({ keys: [await parseKey(logKey)] }, 3, "none of the given keys");
  await failsAt({ origin: "other.example" }, 3, "another log");
  const signature = claim.proof.note.length - 10;
  const other = claim.proof.note[signature] === "A" ? "B" : "A";
  const wrong = claim.proof.note.slice(0, signature) + other + claim.proof.note.slice(signature + 1);
  await failsAt({ proof: { ...claim.proof, note: wrong } }, 3, `signature of key ${key.id}`);
  for (let index = 0; index < entry.length; index += 1) {
    const { isVerified, steps } = await verifyEvent({ ...claim, entryBase64: toBase64(flipped(entry, index)) });
    assert.equal(isVerified, false, `byte ${index} of the entry`);
    assert.ok(steps.length <= 2);
  }
  for (const [index, hash] of claim.proof.path.entries()) {
    for (const changed of [hash.replace(/^./, hash[0] === "A" ? "B" : "A"), hash.slice(4), `${hash} `, null, 7]) {
      const path = claim.proof.path.map((each, number) => (number === index ? changed : each));
      await failsAt({ proof: { ...claim.proof, path } }, 2, "");
    }
  }
  for (const proof of [null, {}, { ...claim.proof, path: "AAAA" }, { ...claim.proof, note: null }, { ...claim.proof, path: Array(64).fill(claim.proof.path[0]) }]) {
    assert.equal((await verifyEvent({ ...claim, proof })).isVerified, false, JSON.stringify(proof).slice(0, 60));
  }
});
