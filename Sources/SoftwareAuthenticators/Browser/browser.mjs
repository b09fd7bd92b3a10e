// Chromium with virtual authenticators, on an empty page of http://localhost, which can visit other pages.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Starts Chromium; returns a function for its DevTools protocol and one that ends it. */
export async function launch() {
  const profile = await mkdtemp(join(tmpdir(), "account-ledger-"));
  const browser = spawn("chromium-headless-shell", [
    // The sandbox needs privileges that a container may not have; the pages are the test's own.
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`,
    // Messages of the DevTools protocol, each ended by a NUL, on the descriptors 3 and 4.
    "--remote-debugging-pipe", "about:blank",
  ], { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"], detached: true });
  let log = "";
  browser.stderr.on("data", (chunk) => { log += chunk; });
  const ended = new Promise((resolve) => { browser.on("exit", resolve).on("error", resolve); });
  return {
    send: connect(browser.stdio[3], browser.stdio[4], ended, () => log),
    async close() {
      // With the processes that it has started.
      if (browser.pid) process.kill(-browser.pid, "SIGKILL");
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Opens a page; returns its origin and functions for the authenticator, for credentials and for the end. */
export async function openBrowser() {
  const server = http.createServer((request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Passkeys</title>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://localhost:${server.address().port}`;
  const { send, close } = await launch();

  const { product } = await send("Browser.getVersion");
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const sendToPage = (method, parameters = {}) => send(method, parameters, sessionId);
  await sendToPage("Page.enable");
  const arrive = async (go) => {
    const loaded = send.event("Page.loadEventFired");
    await go();
    await loaded;
  };
  await arrive(() => sendToPage("Page.navigate", { url: `${origin}/` }));
  await sendToPage("WebAuthn.enable", { enableUI: false });

  let authenticatorId;
  return {
    origin,
    product,
    /** Plugs in an authenticator in place of the former one. */
    async plugIn(options) {
      if (authenticatorId) await sendToPage("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
      ({ authenticatorId } = await sendToPage("WebAuthn.addVirtualAuthenticator", { options }));
    },
    /** Sets whether the authenticator will recognise its user. */
    setUserVerified: (isUserVerified) =>
      sendToPage("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    create: (options) => evaluate(sendToPage, `navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}) })`),
    get: (options) => evaluate(sendToPage, `navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}) })`),
    /** Opens an address, and runs a script in each page that follows; returns the address of the last one. */
    async visit(url, scripts) {
      await arrive(() => sendToPage("Page.navigate", { url }));
      for (const expression of scripts) {
        await arrive(() => sendToPage("Runtime.evaluate", { expression, userGesture: true }));
      }
      const { result } = await sendToPage("Runtime.evaluate", { expression: "location.href" });
      return result.value;
    },
    async close() {
      await close();
      server.close();
      server.closeAllConnections();
    },
  };
}

const answerSecondsMax = 60;

/** Returns a function that sends a command and waits for its result. */
function connect(output, input, ended, log) {
  const waiting = new Map();
  const events = new Map();
  const listeners = new Set();
  let count = 0;
  let received = "";
  input.setEncoding("utf8").on("data", (chunk) => {
    const messages = (received + chunk).split("\0");
    received = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      (waiting.get(message.id) ?? events.get(message.method))?.(message);
      if (message.method) for (const listener of listeners) listener(message);
    }
  });
  const dead = ended.then((reason) => { throw new Error(`Chromium ended: ${reason}\n${log()}`); });
  dead.catch(() => {});
  const send = async (method, params = {}, sessionId = undefined) => {
    count += 1;
    const id = count;
    let timer;
    const answer = new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      timer = setTimeout(() => reject(new Error(`${method}: no answer within ${answerSecondsMax} s`)), answerSecondsMax * 1000);
    });
    output.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const message = await Promise.race([answer, dead]).finally(() => {
      clearTimeout(timer);
      waiting.delete(id);
    });
    if (message.error) throw new Error(`${method}: ${message.error.message}`);
    return message.result;
  };
  send.event = (method) => Promise.race([new Promise((resolve) => { events.set(method, resolve); }), dead]);
  /** Calls a function with every event. */
  send.listen = (listener) => { listeners.add(listener); };
  return send;
}

/** Evaluates a promise of a credential in the page, and returns its JSON. */
async function evaluate(sendToPage, expression) {
  const { result, exceptionDetails } = await sendToPage("Runtime.evaluate", {
    expression: `(async () => JSON.stringify((await ${expression}).toJSON()))()`,
    awaitPromise: true, returnByValue: true, userGesture: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
