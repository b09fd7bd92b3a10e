// Measures the pages in Chromium: node pages.mjs RUNS, with the server's address in LEDGER_URL. Prints "NAME VALUE" lines.
//
// Each run is in a context without cache and cookies; the first one, in which the browser starts its processes, is
// discarded. Times are the page's own, in milliseconds since the navigation began.

import { staffSession } from "../../../Tests/PageTests/Browser/staff.mjs";
import { base, withBrowser } from "../../../Tests/PageTests/Browser/tab.mjs";

const runs = Number(process.argv[2]);
const eventsOfAccount = 1_000;
const rowsOfPage = 100;

/** Notes when the first row of a timeline and the whole page of rows were there. */
const observer = `new MutationObserver(() => {
  const rows = document.querySelectorAll("li[data-position]").length;
  if (rows > 0) window.firstRow ??= performance.now();
  if (rows >= ${rowsOfPage}) window.allRows ??= performance.now();
}).observe(document, { childList: true, subtree: true })`;

async function ask(path, body) {
  const answer = await fetch(`${base}${path}`, body && {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Opens an account and signs in to it until it has enough events; returns its id. */
async function busyAccount() {
  const signIn = async () => {
    const { id_token: token } = await ask(`/dev/idp/apple/token?name=busy-${process.pid}`);
    return ask("/v1/auth/sign-in/apple", { id_token: token });
  };
  const { user_id: account } = await signIn();
  // The first sign-in has three events.
  for (let events = 3; events < eventsOfAccount; events += 1) await signIn();
  return account;
}

/** Opens an address in a context of its own, waits for it, and returns a value of the page. */
async function visit(open, address, { cookie, until, value }) {
  const tab = await open();
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: observer });
  if (cookie) {
    const [name, ...rest] = cookie.split("=");
    await tab.send("Network.setCookie", { url: base, name, value: rest.join("="), secure: true, httpOnly: true, path: "/" });
  }
  await tab.open(address);
  await tab.wait(until);
  const result = await tab.evaluate(value);
  await tab.send("Target.disposeBrowserContext", { browserContextId: tab.context }).catch(() => {});
  return result;
}

const paint = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime`;
/** The raw bytes and the requests of a first view, without data. */
const weight = `(() => {
  const files = [performance.getEntriesByType("navigation")[0],
    ...performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/"))];
  return { bytes: files.reduce((sum, file) => sum + file.decodedBodySize, 0), requests: files.length };
})()`;

/** The time from a click on the button to the verdict. */
const verified = `(async () => {
  const verdict = document.getElementById("verdict");
  const began = performance.now();
  const ended = new Promise((resolve, reject) => {
    new MutationObserver(() => {
      if (verdict.textContent.startsWith("Verified")) resolve(performance.now());
      if (document.getElementById("refusal").textContent) reject(new Error(document.getElementById("refusal").textContent));
    }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
  });
  lookup.find("button", "Verify in this browser").click();
  return await ended - began;
})()`;

const lines = [];
const note = (name, value) => lines.push(`${name} ${value}`);

const account = await busyAccount();
const { cookie, fields } = await staffSession("support");
const read = async (path) => (await fetch(`${base}/v1/${path}`, { headers: fields })).json();
const { events: [sealed] } = await read("events?limit=1");

await withBrowser(async (open) => {
  for (let run = 0; run <= runs; run += 1) {
    if (run === 1) lines.length = 0;
    const rows = await visit(open, `${base}/console/accounts/${account}`, {
      cookie, until: "window.allRows", value: `({ first: firstRow, all: allRows, painted: ${paint} })`,
    });
    note("timeline_first_row_ms", rows.first.toFixed(1));
    note("timeline_all_rows_ms", rows.all.toFixed(1));
    note("console_paint_ms", rows.painted.toFixed(1));
    const signedOut = await visit(open, `${base}/account`, {
      until: `lookup.find("heading", "Sign in") && ${paint}`, value: `({ painted: ${paint}, ...${weight} })`,
    });
    note("account_paint_ms", signedOut.painted.toFixed(1));
    note("account_kib", (signedOut.bytes / 1024).toFixed(1));
    note("account_requests", signedOut.requests);
    const overview = await visit(open, `${base}/console/`, {
      cookie, until: `lookup.find("heading", "Overview") && document.querySelector("main").ariaBusy !== "true"`, value: weight,
    });
    note("console_kib", (overview.bytes / 1024).toFixed(1));
    note("console_requests", overview.requests);
    note("event_verified_ms", (await visit(open, `${base}/console/events/${sealed.event_id}`, {
      cookie, until: `lookup.find("button", "Verify in this browser")`, value: verified,
    })).toFixed(1));
  }
});
process.stdout.write(`${lines.join("\n")}\n`);
