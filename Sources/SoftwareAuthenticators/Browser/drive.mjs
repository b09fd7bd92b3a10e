// Executes the commands of a test: lines of JSON, each answered by a line. Ends with its standard input.

import { createInterface } from "node:readline";
import { openBrowser } from "./browser.mjs";

const secondsMax = 300;

const browser = await openBrowser();
const tooLate = setTimeout(() => end(1), secondsMax * 1000);
answer({ origin: browser.origin });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    if (command.authenticator) await browser.plugIn(command.authenticator);
    if (command.isUserVerified !== undefined) await browser.setUserVerified(command.isUserVerified);
    if (command.create) answer({ credential: await browser.create(command.create) });
    else if (command.visit) answer({ address: await browser.visit(command.visit, command.scripts) });
    else if (command.get) answer({ credential: await browser.get(command.get) });
    else answer({});
  } catch (error) {
    answer({ error: String(error.message) });
  }
}
await end(0);

function answer(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function end(status) {
  clearTimeout(tooLate);
  await browser.close();
  process.exit(status);
}
