// The server under test, ID tokens of its development identity provider, and a proxy that loses answers.

import { createHmac, webcrypto } from "node:crypto";
import http from "node:http";
import { AccountLedger, AccountLedgerError } from "../account-ledger.js";

// Node 18 has it behind an option.
globalThis.crypto ??= webcrypto;

/** The server's address; tools/test starts it in development mode. */
export const url = required("LEDGER_URL");
/** An API key of role `support`. */
export const supportKey = required("LEDGER_SUPPORT_KEY");
/** One of another person. */
export const otherSupportKey = required("LEDGER_OTHER_SUPPORT_KEY");

let people = 0;

/** A name that was not used before. */
export function newName() {
  return `${process.pid}-${++people}`;
}

/** An ID token that a provider gives to a person. */
export async function idToken(provider, name, nonce) {
  const query = new URLSearchParams({ name, ...(nonce && { nonce }) });
  const response = await fetch(`${url}/dev/idp/${provider}/token?${query}`);
  return (await response.json()).id_token;
}

/** The same as an argument of the client. */
export async function proof(provider, name, nonce) {
  return { id_token: await idToken(provider, name, nonce), ...(nonce && { nonce }) };
}

/** Waits for a message with a code to an address that gets one such message, and returns the code. */
export async function sentCode(address) {
  const end = performance.now() + 40_000;
  while (performance.now() < end) {
    const { messages } = await (await fetch(`${url}/dev/outbox`)).json();
    const texts = messages.filter(({ to }) => to === address).map(({ text }) => /[0-9]{6}/.exec(text)?.[0]);
    const code = texts.find((found) => found);
    if (code) return code;
  }
  throw new Error(`no code was sent to ${address}`);
}

/** A client whose person has just signed in with Apple, and the person's name. */
export async function signedIn(options = {}) {
  const name = newName();
  const ledger = new AccountLedger({ url, ...options });
  const session = await ledger.signIn("apple", await proof("apple", name));
  return { ledger, name, session };
}

/** Enrols an authenticator app for the account that is signed in, and returns the factor's id and the recovery codes. */
export async function enrolled(ledger) {
  const { enrolment_token, secret } = await ledger.beginFactor({ type: "totp" });
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret.replace(/=+$/, "")].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", key).update(counter).digest();
  const number = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
  return ledger.enrolFactor({ enrolment_token, code: String(number % 1_000_000).padStart(6, "0") });
}

/** A store whose session the test can see and change. */
export function openStore() {
  return {
    session: null,
    load() { return this.session; },
    save(session) { this.session = session; },
    clear() { this.session = null; },
    expire() { this.session = { ...this.session, expires_at: 0 }; },
  };
}

/** The error with which a promise must reject. */
export async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AccountLedgerError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Every event of an account, as support sees them. */
export async function events(account) {
  const response = await fetch(`${url}/v1/accounts/${account}/history`, {
    headers: { "Authorization": `Bearer ${supportKey}`, "Ledger-Reason": "a test" },
  });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()).events;
}

/**
 * A proxy in front of the server. `fault(request, number)` is asked about every request and returns undefined to
 * pass it on, "lose" to pass it on and drop the answer, "hang" to never answer, or an answer of its own.
 */
export async function proxy(t, fault = () => undefined) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({ method: request.method, url: request.url, headers: request.headers, at: performance.now() });
    const action = fault(request, requests.length);
    if (action === "hang") return;
    if (typeof action === "object") {
      response.writeHead(action.status, action.headers).end(action.body);
      return;
    }
    const { host, connection, ...headers } = request.headers;
    const passed = http.request(url + request.url, { method: request.method, headers }, async (answer) => {
      const parts = [];
      for await (const part of answer) parts.push(part);
      if (action === "lose") return request.socket.destroy();
      response.writeHead(answer.statusCode, answer.headers).end(Buffer.concat(parts));
    });
    passed.on("error", () => request.socket.destroy());
    passed.end(Buffer.concat(chunks));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: tools/test --filter JavaScriptClientTests sets it`);
  return value;
}
