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

/** The code that was sent to an address last. */
export async function sentCode(address) {
  const { messages } = await (await fetch(`${base}/dev/outbox`)).json();
  const text = messages.find(({ to }) => to === address)?.text;
  return /[0-9]{6}/.exec(text ?? "")?.[0] ?? "";
}
