// Scenario 5 of the console: staff sign in, and their sessions are safe.

import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { signInBy } from "./accounts.mjs";
import { arrived, callback, signInAsStaff, staffSession, staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

/** Sends a request; returns the status with the code of the refusal. */
async function status(method, path, headers, body) {
  const answer = await fetch(base + path, {
    method, redirect: "manual", headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return `${answer.status} ${text.startsWith("{") ? JSON.parse(text).error?.code ?? "" : ""}`.trim();
}

const events = "/v1/events?limit=1";

test("a deep link asks to sign in, and arrives; the person sees the name and the role", () => withBrowser(async (open) => {
  const path = "accounts/01a1fb40-0000-7000-8000-000000005dc4?from=1";
  const tab = await open();
  await tab.open(`${base}/console/${path}`);
  await tab.wait(`["link", "button"].find((each) => lookup.find(each, "Sign in"))`, "Sign in");
  await signInAsStaff(tab, "support");
  assert.equal(await tab.evaluate("location.href"), `${base}/console/${path}`, "neither code nor state");
  await tab.wait(`/Sam Ample/.test(document.body.innerText) && /support/.test(document.body.innerText)`, "name and role");
  const page = tab.responses.findLast(({ url, mimeType }) => url.includes("/console/") && mimeType === "text/html");
  const headers = Object.fromEntries(Object.entries(page.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const policy = headers["content-security-policy"];
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'"]) {
    assert.ok(policy.includes(part), part);
  }
  assert.equal(headers["referrer-policy"], "no-referrer");
  const cookie = (await tab.cookies()).find(({ name }) => name === "__Host-ledger-console");
  assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.path, cookie.session],
    [true, true, "Lax", "/", true]);
  assert.equal(await tab.evaluate("document.cookie"), "");
  const stored = await tab.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
  assert.ok(!stored.includes(cookie.value));
}));

test("a person signs out, and the button Back shows nothing", () => withBrowser(async (open) => {
  const tab = await staffTab(open, "auditor", "events");
  const cookie = (await tab.cookies()).find(({ name }) => name === "__Host-ledger-console");
  const session = await (await fetch(`${base}/console/session`, { headers: { Cookie: `${cookie.name}=${cookie.value}` } })).json();
  const own = { Cookie: `${cookie.name}=${cookie.value}`, "Ledger-CSRF": session.csrf_token };
  assert.equal(await status("GET", events, own), "200");
  await tab.open(`${base}/console/log`);
  await arrived(tab);
  await tab.click("Sign out");
  await tab.wait(`["link", "button"].find((each) => lookup.find(each, "Sign in"))`, "Sign in");
  assert.equal(await status("GET", events, own), "401 INVALID_API_KEY", "a copied cookie ends with it");
  assert.ok(!(await tab.cookies()).some(({ name }) => name === "__Host-ledger-console"));
  await tab.back();
  await tab.wait(`["link", "button"].find((each) => lookup.find(each, "Sign in"))`, "Sign in");
  assert.ok(!/Sam Ample/.test(await tab.evaluate("document.body.innerText")));
}));

test("a person signs out everywhere in the bar", () => withBrowser(async (open) => {
  const name = "Grace Hopper";
  const elsewhere = await staffSession("auditor", { name });
  const other = await staffSession("auditor", { name: "Eve" });
  const [tab, ended] = [await staffTab(open, "auditor", "events", name), await staffTab(open, "auditor", "events", name)];
  assert.equal(await status("GET", events, elsewhere.fields), "200");
  await tab.check("the bar");
  await tab.click("Sign out everywhere");
  await tab.says("You are signed out everywhere.");
  await tab.sees("link", "Sign in");
  assert.equal(await status("GET", events, elsewhere.fields), "401 INVALID_API_KEY");
  assert.equal(await status("GET", events, other.fields), "200");
  await ended.click("Sign out everywhere");
  await ended.says("Your session is over. Sign in again in another tab", "alert");
}));

test("a person without a role is told so", () => withBrowser(async (open) => {
  const tab = await staffTab(open, "none", "", "Eve");
  await tab.wait(`document.body.innerText.includes("You are signed in as Eve, but have no role here.")`, "no role");
  await tab.evaluate(`[...document.querySelectorAll("main button")].find((each) => each.textContent === "Sign out").click()`);
  await tab.says("You are signed out.");
}));

test("a sign-out everywhere ends the sessions of the person, and of no other", async () => {
  const [one, two] = [await staffSession("support"), await staffSession("support")];
  const other = await staffSession("support", { name: "Eve" });
  assert.equal(await status("POST", "/console/sign-out", one.fields, { everywhere: true }), "200");
  assert.equal(await status("GET", events, two.fields), "401 INVALID_API_KEY");
  assert.equal(await status("GET", events, other.fields), "200");
});

test("a sign-in begins another session, and ends the former one of the browser", async () => {
  const planted = "__Host-ledger-console=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  const first = await staffSession("support", { cookie: planted });
  assert.notEqual(first.cookie, planted, "a cookie from before does not become a session");
  const second = await staffSession("auditor", { cookie: first.cookie });
  assert.notEqual(second.cookie, first.cookie);
  assert.equal(await status("GET", events, first.fields), "401 INVALID_API_KEY");
  assert.equal(second.session.staff.role, "auditor", "the roles are those of the last sign-in");
  assert.equal(second.session.staff.id, first.session.staff.id);
  const [, ...attributes] = second.setCookie.split("; ");
  assert.deepEqual(attributes.sort(), ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
});

test("a request by cookie needs the token of its session and the same origin, reads too", async () => {
  const own = (await staffSession("admin")).fields;
  const other = (await staffSession("admin", { name: "Eve" })).fields;
  const account = "01a1fb40-0000-7000-8000-000000005dc4";
  const forged = [
    { Cookie: own.Cookie }, { ...own, "Ledger-CSRF": "" }, { ...own, "Ledger-CSRF": other["Ledger-CSRF"] },
    { "Ledger-CSRF": own["Ledger-CSRF"] },
    ...["cross-site", "same-site", "none"].map((site) => ({ ...own, "Sec-Fetch-Site": site })),
  ];
  const requests = [
    ["GET", events], ["GET", "/v1/access-log"], ["GET", `/v1/accounts/${account}`],
    ["DELETE", `/v1/accounts/${account}`], ["POST", `/v1/accounts/${account}/merge`, { absorb: account }],
    ["POST", `/v1/accounts/${account}/holds`], ["POST", `/v1/accounts/${account}/disable`, { case: "x" }],
    ["POST", "/console/sign-out", {}], ["POST", "/console/role", { role: "admin" }],
  ];
  for (const [method, path, body] of requests) {
    for (const headers of forged) {
      const answer = await status(method, path, headers, body);
      assert.equal(answer, "403 FORBIDDEN", `${method} ${path} ${JSON.stringify(headers)}`);
    }
  }
  assert.equal(await status("GET", events, { ...own, Authorization: "Bearer x" }), "401 INVALID_API_KEY",
    "with Authorization the cookie is not looked at");
  assert.equal(await status("GET", events, { ...own, "Sec-Fetch-Site": "same-origin" }), "200");
});

test("an answer counts in the browser that began the sign-in alone, and once", async () => {
  const mine = await callback("admin");
  const theirs = await callback("admin", { name: "Eve" });
  const end = (address, cookie) => fetch(address, { redirect: "manual", headers: cookie ? { Cookie: cookie } : {} });
  const state = new URL(mine.address).searchParams.get("state");
  for (const [address, cookie] of [
    [theirs.address, mine.flow], [mine.address, ""], [mine.address, theirs.flow],
    [mine.address.replace(state, "x"), mine.flow], [`${mine.address}&state=x`, mine.flow],
    [mine.address.replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example"), mine.flow],
    [mine.address.replace(/code=[^&]*/, "code=x"), mine.flow],
  ]) {
    const answer = await end(address, cookie);
    assert.match(answer.headers.get("Location"), /^\.\/\?sign_in=(expired|refused)$/);
    assert.ok(!answer.headers.getSetCookie().some((each) => each.startsWith("__Host-ledger-console=")));
  }
  const denied = await end(mine.address.replace(/code=[^&]*/, "error=access_denied"), mine.flow);
  assert.equal(denied.headers.get("Location"), "./?sign_in=denied");
  assert.equal((await end(mine.address, mine.flow)).headers.get("Location"), "./");
});

test("a sign-in leads back to the console alone", async () => {
  for (const [to, location] of [
    ["events?type=SignedIn", "./events?type=SignedIn"], ["//evil.example", "./"], ["https://evil.example", "./"],
    ["/\\evil.example", "./"], ["../account", "./"], ["%2e%2e/account", "./"], ["javascript:alert(1)", "./javascript:alert(1)"],
  ]) {
    const query = `?${new URLSearchParams({ to })}`;
    const led = (await staffSession("support", { query })).location;
    assert.equal(led, location);
    assert.ok(new URL(led, `${base}/console/callback`).href.startsWith(`${base}/console/`));
  }
  const begun = await fetch(`${base}/console/sign-in?fresh=1`, { redirect: "manual" });
  assert.equal(new URL(begun.headers.get("Location")).searchParams.get("max_age"), "0");
});

test("roles end at their tenants, and one of several is chosen", async () => {
  const { fields, session } = await staffSession("auditor support");
  assert.equal(session.staff.role, null);
  assert.deepEqual([session.staff.roles, session.tenants], [["auditor", "support"], ["acme", "default"]]);
  assert.equal(await status("GET", events, fields), "403 FORBIDDEN");
  assert.equal(await status("POST", "/console/role", fields, { role: "admin" }), "403 FORBIDDEN");
  assert.equal(await status("POST", "/console/role", fields, { role: "auditor" }), "200");
  assert.equal(await status("GET", events, fields), "200");
  assert.equal(await status("GET", `/t/acme${events}`, fields), "200");
  const log = await (await fetch(`${base}/v1/access-log?principal=staff:${session.staff.id}`, { headers: fields })).json();
  assert.equal(log.accesses[0].principal, `staff:${session.staff.id}`);
  assert.ok(!JSON.stringify(log).includes("Sam"), "the name is in no log");
});

test("pages of other sites can't use the session", () => withBrowser(async (open) => {
  const server = http.createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Evil</title>");
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  try {
    const tab = await staffTab(open, "admin", "events");
    for (const host of ["127.0.0.1", "localhost"]) {
      await tab.open(`http://${host}:${server.address().port}/`);
      const answers = await tab.evaluate(`Promise.all([
        fetch("${base}${events}", { credentials: "include" }),
        fetch("${base}/console/session", { credentials: "include" }),
        fetch("${base}/console/sign-out", { method: "POST", credentials: "include", headers: { "Ledger-CSRF": "x" } }),
        fetch("${base}/console/sign-out", { method: "POST", credentials: "include", mode: "no-cors" }),
      ].map((answer) => answer.then(({ type }) => type, () => "refused")))`);
      assert.deepEqual(answers, ["refused", "refused", "refused", "opaque"]);
    }
    tab.problems = tab.problems.filter((text) => !/CORS|net::ERR/.test(text));
    await tab.open(`${base}/console/events`);
    await arrived(tab);
    await tab.wait(`/Sam Ample/.test(document.body.innerText)`, "still signed in");
  } finally {
    server.close();
    server.closeAllConnections();
  }
}));

test("a person of several tenants changes between them, and each has its address", () => withBrowser(async (open) => {
  const account = await signInBy("apple");
  const tab = await staffTab(open, "support", `accounts/${account.id}`);
  await tab.sees("list", "Timeline");
  const choose = (tenant) => tab.evaluate(`(() => {
    const select = document.querySelector("select[aria-label=Tenant]");
    select.value = "${tenant}";
    select.dispatchEvent(new Event("change"));
  })()`);
  await choose("acme");
  await tab.wait(`location.pathname === "/t/acme/console/"`);
  await arrived(tab);
  await tab.sees("heading", "Overview");
  assert.equal(await tab.evaluate(`document.querySelector("select[aria-label=Tenant]").value`), "acme");
  await tab.check("another tenant");
  const begin = tab.requests.length;
  await tab.open(`${base}/t/acme/console/accounts/${account.id}`);
  await tab.wait(`document.querySelector("main").innerText.includes("There is no account of this id.")`);
  const data = tab.requests.slice(begin).map(({ url }) => url).filter((url) => /\/v1\/|\/session/.test(url));
  assert.ok(data.length > 1 && data.every((url) => url.startsWith(`${base}/t/acme/`)), data.join(" "));
  await choose("default");
  await tab.wait(`location.pathname === "/console/"`);
  await arrived(tab);
  assert.equal(await tab.evaluate(`document.querySelector("select[aria-label=Tenant]").value`), "default");

  // The address of a tenant's view asks for a sign-in, and then arrives.
  const other = await open();
  await other.open(`${base}/t/acme/console/holds`);
  await signInAsStaff(other, "support");
  await other.sees("heading", "Legal holds");
  assert.equal(await other.evaluate("location.pathname"), "/t/acme/console/holds");
}));

test("pages without scripts say so in words", async () => {
  for (const path of ["/account", "/console/", "/t/acme/console/holds"]) {
    const html = await (await fetch(base + path)).text();
    assert.match(html, /<noscript><p>This page needs JavaScript\.<\/p><\/noscript>/, path);
  }
});
