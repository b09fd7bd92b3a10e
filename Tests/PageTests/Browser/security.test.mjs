// The security of the page: cookies, forgery, frames, texts of strangers, addresses to return to, and what stays.

import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { newName, signIn, signInAt } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

/** Sends a request; returns the status with the code of the refusal. */
async function status(method, path, headers, body) {
  const response = await fetch(base + path, {
    method, headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
    body: body && JSON.stringify(body), redirect: "manual",
  });
  const text = await response.text();
  return `${response.status} ${text.startsWith("{") ? JSON.parse(text).error?.code ?? "" : ""}`.trim();
}

/** Signs in without a browser; returns the field with the cookie, and the token. */
async function session(name) {
  const start = await fetch(`${base}/account/session`);
  const { csrf_token: token } = await start.json();
  const cookie = start.headers.get("Set-Cookie").split(";")[0];
  const { id_token: idToken } = await (await fetch(`${base}/dev/idp/google/token?name=${name}`)).json();
  const opened = await fetch(`${base}/v1/auth/sign-in/google`, {
    method: "POST", headers: { "Content-Type": "application/json", "Cookie": cookie, "Ledger-CSRF": token },
    body: JSON.stringify({ id_token: idToken }),
  });
  assert.equal(opened.status, 201);
  assert.deepEqual(await opened.json(), { is_new_user: true }, "no tokens");
  const setCookie = opened.headers.get("Set-Cookie");
  const signedIn = setCookie.split(";")[0];
  const again = await fetch(`${base}/account/session`, { headers: { Cookie: signedIn } });
  return { before: { cookie, token }, cookie: signedIn, setCookie, token: (await again.json()).csrf_token };
}

/** Passes a flow without a browser, up to the address of the page's callback, which is not followed. */
async function callbackAddress(name) {
  const start = await fetch(`${base}/account/session`);
  const { csrf_token: token } = await start.json();
  const cookie = start.headers.get("Set-Cookie").split(";")[0];
  const begun = await fetch(`${base}/account/flows`, {
    method: "POST", headers: { "Content-Type": "application/json", "Cookie": cookie, "Ledger-CSRF": token },
    body: JSON.stringify({ provider: "google", purpose: "sign_in" }),
  });
  const follow = async (address, init) => {
    const answer = await fetch(address, { redirect: "manual", ...init });
    return { answer, address: answer.headers.get("Location") };
  };
  const led = await follow((await begun.json()).authorize_url);
  const flow = led.answer.headers.get("Set-Cookie").split(";")[0];
  const form = new URLSearchParams(new URL(led.address).search);
  form.set("name", name);
  const signedIn = await follow(led.address.split("?")[0], { method: "POST", body: form });
  return (await follow(signedIn.address, { headers: { Cookie: flow } })).address;
}

test("the cookie is for this host alone, and no script reads it", async () => {
  const { setCookie } = await session(newName());
  const [pair, ...attributes] = setCookie.split("; ");
  assert.match(pair, /^__Host-ledger-account=[A-Za-z0-9_-]+$/);
  assert.deepEqual(attributes.sort(), ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
});

test("a request by cookie needs the token of its session, and reads need it, too", async () => {
  const { before, cookie, token } = await session(newName());
  const own = { Cookie: cookie, "Ledger-CSRF": token };
  const other = await session(newName());
  assert.equal(await status("GET", "/v1/account", own), "200");
  assert.equal(await status("GET", "/v1/account", { ...own, "Sec-Fetch-Site": "same-origin" }), "200");
  const forged = [
    { Cookie: cookie }, { ...own, "Ledger-CSRF": "x" }, { ...own, "Ledger-CSRF": "" },
    { ...own, "Ledger-CSRF": other.token }, { ...own, "Ledger-CSRF": before.token },
    { "Ledger-CSRF": token }, { ...own, Cookie: cookie.slice(0, -2) }, { ...own, Cookie: before.cookie },
    ...["cross-site", "same-site", "none"].map((site) => ({ ...own, "Sec-Fetch-Site": site })),
  ];
  const requests = [
    ["GET", "/v1/account"], ["GET", "/v1/account/factors"], ["DELETE", "/v1/auth/link/google"],
    ["POST", "/v1/auth/link/google", { id_token: "x" }], ["POST", "/v1/auth/sign-out", {}],
    ["POST", "/v1/account/merge/preview", { provider: "google", id_token: "x" }],
    ["POST", "/v1/account/merge", { provider: "google", id_token: "x", plan_digest: "x" }],
    ["POST", "/v1/account/codes/email", { address: "a@example.com" }],
    ["POST", "/v1/account/password", { password: "x" }], ["POST", "/v1/account/factor-enrolments", { type: "totp" }],
    ["POST", "/v1/account/factors", { enrolment_token: "x", code: "x" }], ["POST", "/v1/account/recovery-codes"],
    ["POST", "/v1/account/passkeys/passkey/create", {}], ["POST", "/account/sign-out", {}],
    ["POST", "/account/flows", { provider: "google", purpose: "link" }], ["POST", "/account/qr-code", { text: "x" }],
  ];
  for (const [method, path, body] of requests) {
    for (const headers of forged) {
      const answer = await status(method, path, headers, body);
      assert.equal(answer, "403 FORBIDDEN", `${method} ${path} ${JSON.stringify(headers)}`);
    }
  }
  // With Authorization the cookie is not looked at.
  const both = { ...own, Authorization: "Bearer x" };
  assert.equal(await status("GET", "/v1/account", both), "401 INVALID_ACCESS_TOKEN");
  assert.equal(await status("GET", "/v1/account", { Authorization: "Bearer x" }), "401 INVALID_ACCESS_TOKEN");
  assert.equal(await status("GET", "/v1/account", {}), "401 INVALID_ACCESS_TOKEN");
  assert.equal(await status("GET", "/account/session", { "Sec-Fetch-Site": "cross-site" }), "403 FORBIDDEN");
  assert.equal(await status("GET", "/v1/account", own), "200", "nothing has ended the session");
  assert.equal(await status("POST", "/account/sign-out", own, {}), "200");
  assert.equal(await status("GET", "/v1/account", own), "401 INVALID_ACCESS_TOKEN", "a copied cookie ends with it");
});

test("pages of other sites can't send requests, nor show the page in a frame", () =>
  withBrowser(async (open) => {
    const server = http.createServer((_, response) => {
      response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Evil</title>");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const tab = await open();
      const ada = newName();
      await signIn(tab, "google", ada);
      // The same site by its port, to which the browser sends the cookie, and another one.
      for (const host of ["127.0.0.1", "localhost"]) {
        await tab.open(`http://${host}:${server.address().port}/`);
        const answers = await tab.evaluate(`Promise.all([
          fetch("${base}/v1/account", { credentials: "include" }),
          fetch("${base}/account/session", { credentials: "include" }),
          fetch("${base}/account/sign-out", { method: "POST", credentials: "include", headers: { "Ledger-CSRF": "x" } }),
          fetch("${base}/account/sign-out", { method: "POST", credentials: "include", mode: "no-cors" }),
        ].map((answer) => answer.then(({ type }) => type, () => "refused")))`);
        assert.deepEqual(answers, ["refused", "refused", "refused", "opaque"]);
        await tab.evaluate(`new Promise((resolve) => {
          const frame = Object.assign(document.createElement("iframe"), { src: "${base}/account", onload: resolve });
          document.body.append(frame);
        })`);
        assert.equal(await tab.evaluate("frames[0].length"), 0);
        assert.equal(await tab.evaluate(`(() => { try { return frames[0].document.title } catch { return "closed" } })()`),
          "closed", "the browser shows an error in its place");
      }
      tab.problems = tab.problems.filter((text) => !/CORS|frame|net::ERR/.test(text));
      await tab.open(`${base}/account`);
      await tab.sees("heading", "Linked accounts");
      assert.equal((await tab.items("Linked accounts")).length, 1, "nothing was changed");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }));

test("texts of providers and people are never markup", () => withBrowser(async (open) => {
  const tab = await open();
  const evil = `<img src=x onerror=alert(1)>"'`;
  await tab.change("/v1/providers", (answer) => {
    for (const each of answer.providers) if (each.name === "google") each.display_name = `${evil}Google`;
  });
  await tab.open(`${base}/account`);
  await tab.click(`Sign in with ${evil}Google`);
  await signInAt(tab, "google", `${newName()}${evil}`);
  await tab.sees("heading", "Linked accounts");
  assert.ok((await tab.items("Linked accounts"))[0].includes(evil));
  assert.equal(await tab.evaluate(`document.querySelectorAll("img, [onerror]").length`), 0);
  await tab.click("Link Apple account");
  await signInAt(tab, "apple", newName());
  await tab.click(`Unlink ${evil}Google`);
  await tab.sees("dialog", `Unlink ${evil}Google?`);
  assert.equal(await tab.evaluate(`document.querySelectorAll("img, [onerror]").length`), 0);
}));

test("the page leads back to listed addresses alone", () => withBrowser(async (open) => {
  const tab = await open();
  await signIn(tab, "google", newName());
  for (const address of [
    "https://evil.example/", "//evil.example/callback", "javascript:alert(1)", "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1:3000/callback/../x", "/account",
  ]) {
    await tab.open(`${base}/account?return=${encodeURIComponent(address)}`);
    await tab.sees("heading", "Linked accounts");
    assert.equal(await tab.evaluate("document.querySelectorAll('a').length"), 0, address);
  }
  await tab.open(`${base}/account?return=${encodeURIComponent("http://127.0.0.1:3000/callback")}`);
  await tab.sees("link", "Back to the app");
  // Also after the way to a provider.
  await tab.click("Link Apple account");
  await signInAt(tab, "apple", newName());
  await tab.sees("link", "Back to the app");
  assert.equal(await tab.evaluate("document.querySelector('a').href"), "http://127.0.0.1:3000/callback");
  const redirected = await fetch(`${base}/account/callback/google?flow_code=x&error=https://evil.example`, {
    redirect: "manual",
  });
  assert.equal(redirected.status, 303);
  assert.equal(redirected.headers.get("Location"), "../../account?flow=done");
}));

test("a code of another person signs nobody in", () => withBrowser(async (open) => {
  const tab = await open();
  const address = await callbackAddress(newName("mallory"));
  assert.match(address, /\/account\/callback\/google\?flow_code=/);
  await tab.open(address);
  await tab.says("This sign-in has ended. Begin again.", "alert");
  await tab.click("Sign in with Google");
  await tab.wait(`location.pathname.startsWith("/dev/idp/google/")`);
  await tab.open(address);
  await tab.says("This sign-in is no longer valid. Sign in again.", "alert");
  await tab.sees("heading", "Sign in");
}));

test("nothing of a person is left after the sign-out, and no script had a token", () =>
  withBrowser(async (open) => {
    const tab = await open();
    const ada = newName();
    await signIn(tab, "google", ada);
    await tab.click("Link Apple account");
    await signInAt(tab, "apple", ada);
    await tab.says("Apple account linked successfully");
    assert.equal(await tab.evaluate("document.cookie"), "");
    const kept = await tab.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
    assert.equal(kept, "[{},{}]");
    for (const text of await tab.bodies()) {
      assert.ok(!/access_token|refresh_token|flow_code|eyJ/.test(text), text);
    }
    const cookies = (await tab.cookies()).filter(({ name }) => name.startsWith("__Host-ledger-account"));
    assert.ok(cookies.length > 0 && cookies.every(({ httpOnly, secure, sameSite, path }) =>
      httpOnly && secure && sameSite === "Lax" && path === "/"));
    for (const { url } of tab.requests) assert.ok(url.startsWith(`${base}/`), `loaded from elsewhere: ${url}`);
    for (const { url, headers } of tab.responses.filter(({ url }) => /\/v1\/|\/account\/session/.test(url))) {
      assert.equal(headers["Cache-Control"], "no-store", url);
    }

    // A page that the browser keeps in memory has nothing of the person, also with an open question.
    await tab.click("Unlink Apple");
    await tab.sees("dialog", "Unlink Apple?");
    await tab.evaluate(`dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`);
    assert.ok(!(await tab.evaluate("document.documentElement.outerHTML")).includes(ada));
    assert.equal(await tab.evaluate("document.body.innerText.trim()"), "");
    await tab.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`);
    await tab.click("Sign out");
    await tab.says("You are signed out.");
    await tab.open(`${base}/healthz`);
    await tab.back();
    await tab.sees("heading", "Sign in");
    assert.ok(!(await tab.evaluate("document.documentElement.outerHTML")).includes(ada));
    assert.deepEqual((await tab.cookies()).filter(({ name }) => name === "__Host-ledger-account-flow"), []);
  }));

test("the first view is light, and files are asked for again only when they have changed", async () => {
  const page = await fetch(`${base}/account`);
  const policy = page.headers.get("Content-Security-Policy");
  for (const rule of [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
  ]) assert.ok(policy.includes(rule), rule);
  assert.equal(page.headers.get("X-Content-Type-Options"), "nosniff");
  assert.equal(page.headers.get("Referrer-Policy"), "no-referrer");
  assert.equal(page.headers.get("Cross-Origin-Opener-Policy"), "same-origin");
  const files = [
    "account/style.css", "account/icon.svg", "account/account.mjs", "account/page.mjs", "account/methods.mjs",
    "account/sign-in.mjs", "lib/el.mjs", "lib/api.mjs", "lib/languages.mjs", "texts/en.mjs",
  ];
  let size = (await page.arrayBuffer()).byteLength;
  for (const file of files) {
    const answer = await fetch(`${base}/assets/${file}`);
    assert.equal(answer.status, 200, file);
    assert.equal(answer.headers.get("Cache-Control"), "no-cache");
    const tag = answer.headers.get("ETag");
    size += (await answer.arrayBuffer()).byteLength;
    const again = await fetch(`${base}/assets/${file}`, { headers: { "If-None-Match": tag } });
    assert.equal(again.status, 304, file);
    assert.equal(again.headers.get("Content-Length"), answer.headers.get("Content-Length"), file);
  }
  assert.ok(size <= 40_960, `${size} bytes`);
  for (const path of ["/assets/lib/none.mjs", "/assets/lib/..%2Faccount", "/assets/account/index.html/x"]) {
    assert.equal((await fetch(base + path)).status, 404, path);
  }
});
