// What people of the tests do at the development identity provider, and with the messages that they get.

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
