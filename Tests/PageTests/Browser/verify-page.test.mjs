// The page of a bundle, opened from the disk: it verifies good bundles, and refuses tampered ones.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { conflict } from "./accounts.mjs";
import { base, withBrowser } from "./tab.mjs";

const key = process.env.LEDGER_ADMIN_KEY;
const end = Date.now() + 60_000;
const whole = "everything holds: every entry of the log up to the checkpoint is here";

/** Sends a request with the key of an administrator. */
async function request(method, path, body) {
  const answer = await fetch(base + path, {
    method, body: body && JSON.stringify(body), headers: { "Authorization": `Bearer ${key}`, "Content-Type": "application/json" },
  });
  return answer;
}

/** Saves the bundle of an account, or of the whole log, once its events are signed. */
async function exportTo(path, body) {
  let answer;
  do answer = await request("POST", "/v1/exports", body); while (answer.status === 404 && Date.now() < end);
  assert.equal(answer.status, 200);
  await writeFile(path, Buffer.from(await answer.arrayBuffer()));
  return path;
}

/** Waits until a checkpoint covers the events so far. */
async function seal() {
  const { events: [{ position }] } = await (await request("GET", "/v1/events?order=newest&limit=1")).json();
  while (!(await request("GET", `/v1/log/inclusion?position=${position}`)).ok) assert.ok(Date.now() < end, "nothing is signed");
}

/** Chooses a file or a directory in a field. */
async function choose(tab, id, path) {
  const { result } = await tab.send("Runtime.evaluate", { expression: `document.getElementById(${JSON.stringify(id)})` });
  await tab.send("DOM.setFileInputFiles", { files: [path], objectId: result.objectId });
}

/** Opens the page of a bundle that was unpacked, and returns a function that verifies a bundle with it. */
async function openPage(tab, directory, vkey) {
  await tab.open(`file://${directory}/verify.html`);
  await tab.sees("heading", "Verify a bundle");
  return async (path, pasted = vkey, field = "tar") => {
    await tab.fill("The log's verifier key", pasted);
    await choose(tab, field, path);
    await tab.click("Verify");
    return tab.wait(`(document.querySelector("[role=alert]").textContent
      || (!document.querySelector("button[aria-disabled]") && document.querySelector("[role=status]").textContent))`);
  };
}

/** Writes a bundle with a file changed; the archive itself stays sound. */
async function tamper(bundle, directory, name, change) {
  const unpacked = await mkdtemp(join(directory, "changed-"));
  execFileSync("tar", ["xf", bundle, "-C", unpacked]);
  const before = await readFile(join(unpacked, name), "utf8");
  const after = change(before);
  assert.notEqual(after, before, name);
  await writeFile(join(unpacked, name), after);
  const names = execFileSync("tar", ["tf", bundle]).toString().trim().split("\n");
  const path = join(unpacked, "bundle.tar");
  execFileSync("tar", ["cf", path, "--format=ustar", "-C", unpacked, ...names]);
  return path;
}

/** Changes the entry of a line in a way that keeps it an entry. */
function changeEntry(lines) {
  return lines.replace(/"entry":"([^"]*)"(?![^]*"entry")/, (_, entry) => {
    const text = Buffer.from(entry, "base64").toString();
    return `"entry":"${Buffer.from(text.replace(/(\d)Z"/, (__, digit) => `${(Number(digit) + 1) % 10}Z"`)).toString("base64")}"`;
  });
}

test("verify.html verifies a bundle from the disk, and refuses a tampered one", () => withBrowser(async (open) => {
  const directory = await mkdtemp(join(tmpdir(), "verify-page-"));
  try {
    const { caller } = await conflict();
    await seal();
    const bundles = {
      whole: await exportTo(join(directory, "whole.tar"), {}),
      account: await exportTo(join(directory, "account.tar"), { account_id: caller.id }),
    };
    const [{ vkey }] = (await (await request("GET", "/v1/log/keys")).json()).keys;
    const tab = await open();
    const unpacked = await mkdtemp(join(directory, "unpacked-"));
    execFileSync("tar", ["xf", bundles.whole, "-C", unpacked]);
    const verify = await openPage(tab, unpacked, vkey);
    await tab.check("the form");
    await tab.click("Verify");
    await tab.says("Choose the tar file", "alert");
    assert.equal(await verify(bundles.whole), whole);
    assert.match(await tab.evaluate("document.querySelector('dl').innerText"), /Log[^]*Signed by[^]*Checkpoints/);
    assert.doesNotMatch(await tab.evaluate("document.querySelector('dl').innerText"), /comes from the bundle/);
    await tab.check("a bundle that holds");
    assert.equal(await verify(bundles.whole, ""), whole);
    assert.match(await tab.evaluate("document.querySelector('dl').innerText"), /this key comes from the bundle/);
    assert.equal(await verify(unpacked, vkey, "directory"), whole, "the directory");
    assert.match(await verify(bundles.account), /^everything holds up to seq \d+ at position \d+, without a gap/);

    const changes = [
      ["whole", "entries/000000.jsonl", changeEntry],
      ["whole", "entries/000000.jsonl", (text) => text.replace(/^.*\n/, "")],
      ["whole", "entries/000000.jsonl", (text) => text.replace(/[^\n]*\n$/, "")],
      ["whole", "checkpoint.txt", (text) => text.replace(/^([^\n]*\n)\d+/, "$11")],
      ["whole", "checkpoint.txt", (text) => text.replace(/.{6}\n$/, "AAAA==\n".slice(-7))],
      ["whole", "bundle.json", (text) => text.replace(/"root":"./, (start) => `${start.slice(0, -1)}${start.endsWith("A") ? "B" : "A"}`)],
      ["whole", "VERIFY.md", (text) => `${text} `],
      ["whole", "verify.html", (text) => text.replace("Verify a bundle", "Verify the bundle")],
      ["account", "entries/000000.jsonl", changeEntry],
      ["account", "entries/000000.jsonl", (text) => text.replace(/"path":\["./, (start) => `${start.slice(0, -1)}${start.endsWith("A") ? "B" : "A"}`)],
      ["account", "entries/000000.jsonl", (text) => text.replace(/^.*\n/, "")],
    ];
    for (const [bundle, name, change] of changes) {
      const said = await verify(await tamper(bundles[bundle], directory, name, change));
      assert.match(said, /^DOES NOT HOLD: /, `${bundle} ${name} ${change}`);
    }
    await tab.check("a bundle that does not hold");
    const other = vkey.replace(/\+[0-9a-f]{8}\+/, "+00000000+");
    assert.match(await verify(bundles.whole, other), /^DOES NOT HOLD: the id of the key does not match it/);
    assert.deepEqual(tab.requests.filter(({ url }) => !url.startsWith("file:")), [], "it loads nothing");
  } finally {
    await rm(directory, { recursive: true });
  }
}));
