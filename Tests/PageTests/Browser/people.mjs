// What people of the tests do at the development identity provider, and with the messages that they get.

import { createHmac } from "node:crypto";
import { base } from "./tab.mjs";

let count = 0;

/** A name that was not used before. */
export function newName(prefix = "ada") {
  count += 1;
  return `${prefix}-${process.pid}-${count}`;
}

/** Signs in at the page of a provider to which the tab was led. */
export async function signInAt(tab, provider, name) {
  await tab.wait(`location.pathname.startsWith("/dev/idp/${provider}/")`);
  await tab.fill("Name", name);
  await tab.click("Sign in");
  if (provider === "apple") await tab.click("Continue");
}

/** Signs in to the page by a provider. */
export async function signIn(tab, provider, name, address = base) {
  await tab.open(`${address}/account`);
  await tab.click(`Sign in with ${provider[0].toUpperCase()}${provider.slice(1)}`);
  await signInAt(tab, provider, name);
  await tab.sees("heading", "Linked accounts");
}

/** The code of an authenticator app (RFC 6238); of a later time step where a code was used already. */
export function appCode(secret, stepsLater = 0) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((digit) => digits.indexOf(digit).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + stepsLater));
  const mac = createHmac("sha1", key).update(counter).digest();
  const offset = mac[19] & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** Enrols an authenticator app; returns its secret and the recovery codes. */
export async function enrolApp(tab) {
  await tab.click("Add a second factor");
  await tab.check("kinds of second factors");
  await tab.click("Authenticator app");
  await tab.sees("img", "QR code for the authenticator app");
  await tab.check("QR code");
  const secret = (await tab.evaluate(`document.querySelector("main code").textContent`)).replaceAll(" ", "");
  await tab.fill("Code", "000000");
  await tab.click("Add");
  await tab.says("The code is wrong or has expired.", "alert");
  await tab.fill("Code", appCode(secret));
  await tab.click("Add");
  await tab.says("The second factor was added.");
  await tab.sees("heading", "Recovery codes");
  return { secret, codes: await tab.items("Recovery codes") };
}

const read = new Map();

/** The code of the next message to an address, once it is there. */
export async function sentCode(address) {
  const count = (read.get(address) ?? 0) + 1;
  read.set(address, count);
  const end = Date.now() + 40_000;
  while (Date.now() < end) {
    const { messages } = await (await fetch(`${base}/dev/outbox`)).json();
    // The newest one is the first.
    const texts = messages.filter(({ to }) => to === address).map(({ text }) => text).reverse();
    const code = /[0-9]{6}/.exec(texts.filter((text) => /[0-9]{6}/.test(text))[count - 1] ?? "")?.[0];
    if (code) return code;
  }
  throw new Error(`no message ${count} with a code was sent to ${address}`);
}
