// The client in Chromium, on a page of another origin than the ledger's, without HTTPS.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { AccountLedger } from "../account-ledger.js";
import { newName, proof, url } from "./support.js";

/** An origin of LEDGER_CORS_ORIGINS; the browser is told where to find it. */
const origin = "http://app.example";
const files = {
  "/": ["page.html", "text/html"],
  "/page.js": ["page.js", "text/javascript"],
  "/account-ledger.js": ["../account-ledger.js", "text/javascript"],
};

test("a page of another origin signs in, links and reads refusals", { timeout: 60_000 }, async (t) => {
  const person = newName();
  const taken = await proof("google", newName());
  await new AccountLedger({ url }).signIn("google", taken);
  const proofs = { apple: await proof("apple", person), google: await proof("google", person), taken };
  const { port, result } = await serve(t, { url, proofs });
  await browse(t, port, result);
  const page = await result;

  assert.equal(page.failure, undefined);
  assert.equal(page.isSecureContext, false);
  assert.equal(page.session.is_new_user, true);
  assert.deepEqual(page.linked.linked_providers, ["apple", "google"]);
  assert.equal(page.conflict.code, "PROVIDER_CONFLICT");
  assert.match(page.conflict.requestId, /^[0-9a-f-]{36}$/);
  assert.equal(page.account.user_id, page.session.user_id);
  assert.deepEqual(page.unlinked.linked_providers, ["apple"]);
  assert.equal(page.limited.code, "RATE_LIMITED");
  assert.ok(page.limited.retryAfter > 60, "Retry-After is exposed to pages");
  assert.equal(page.signedOut.code, "NO_SESSION");
});

/** Serves the page, and returns the port and a promise of what the page reports. */
async function serve(t, settings) {
  let report = () => {};
  const result = new Promise((resolve) => { report = resolve; });
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const file = files[request.url];
    if (file) {
      const body = await readFile(new URL(file[0], import.meta.url));
      response.writeHead(200, { "Content-Type": file[1] }).end(body);
    } else if (request.url === "/settings") {
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(settings));
    } else if (request.url === "/result") {
      response.writeHead(204).end();
      report(JSON.parse(Buffer.concat(chunks).toString()));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { port: server.address().port, result };
}

/** Opens the page in Chromium, which ends with the test; fails when it ends earlier. */
async function browse(t, port, result) {
  const profile = await mkdtemp(join(tmpdir(), "account-ledger-"));
  const browser = spawn("chromium-headless-shell", [
    // The sandbox needs privileges that a container may not have; the page is the test's own.
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`,
    `--host-resolver-rules=MAP app.example:80 127.0.0.1:${port}`, `${origin}/`,
  ], { stdio: ["ignore", "ignore", "pipe"], detached: true });
  let log = "";
  browser.stderr.on("data", (chunk) => { log += chunk; });
  const ended = new Promise((resolve) => { browser.on("exit", resolve).on("error", resolve); });
  t.after(async () => {
    // With the processes that it has started.
    if (browser.pid) process.kill(-browser.pid, "SIGKILL");
    await ended;
    browser.stderr.destroy();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  await Promise.race([result, ended.then((reason) => { throw new Error(`Chromium ended: ${reason}\n${log}`); })]);
}
