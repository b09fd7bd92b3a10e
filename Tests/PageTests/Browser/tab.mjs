// A tab of Chromium as a person uses it: by the roles and names of what it shows, with mouse and keyboard.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { launch } from "../../../Sources/SoftwareAuthenticators/Browser/browser.mjs";
import { lookup } from "./lookup.mjs";

const secondsMax = 40;
const storySecondsMax = 300;
const axeSource = await readFile(required("AXE_SOURCE"), "utf8");

/** The server's address; the tests in Swift start it in development mode. */
export const base = required("LEDGER_URL");
/** The same by the name of this machine, for which browsers make passkeys. */
export const localhost = base.replace("127.0.0.1", "localhost");

/** Runs a test in a browser of its own, with a function that opens tabs of separate people. */
export async function withBrowser(body) {
  const { send, close } = await launch();
  const tabs = [];
  let timer;
  // The browser ends with the test also when a page never answers.
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${storySecondsMax} s`)), storySecondsMax * 1000);
  });
  try {
    await Promise.race([tooLate, body(async (options) => {
      const tab = await Tab.open(send, options);
      tabs.push(tab);
      return tab;
    })]);
    for (const tab of tabs) assert.deepEqual(tab.problems, [], "errors of scripts, and violations of the policy");
  } catch (error) {
    const views = await Promise.all(tabs.map((tab) => Promise.race([
      tab.describe().catch(() => ""), new Promise((resolve) => { setTimeout(resolve, 5_000, "no answer"); }),
    ])));
    throw new Error(`${error.stack}\n${views.join("\n----\n")}`);
  } finally {
    clearTimeout(timer);
    await close();
  }
}

export class Tab {
  /** The requests since the beginning. */
  requests = [];
  /** The responses since the beginning. */
  responses = [];
  problems = [];
  /** Called with a request that is held back. */
  onpaused = () => {};
  #send;
  #session;

  /** Opens a tab without cookies of others. */
  static async open(send, { languages } = {}) {
    const { browserContextId } = await send("Target.createBrowserContext");
    const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(send, sessionId);
    tab.context = browserContextId;
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await tab.send(`${domain}.enable`);
    if (languages) {
      await tab.send("Network.setExtraHTTPHeaders", { headers: { "Accept-Language": languages } });
    }
    await tab.send("Page.addScriptToEvaluateOnNewDocument", {
      source: `${lookup};addEventListener("securitypolicyviolation", (event) =>
        console.error("violation of", event.effectiveDirective, event.blockedURI, event.sample))`,
    });
    await tab.resize(1_000, 800);
    return tab;
  }

  constructor(send, session) {
    this.#send = send;
    this.#session = session;
    send.listen(({ method, params, sessionId }) => {
      if (sessionId !== session) return;
      if (method === "Network.requestWillBeSent") this.requests.push(params.request);
      if (method === "Network.responseReceived") this.responses.push({ ...params.response, id: params.requestId });
      if (method === "Fetch.requestPaused") this.#answer(params);
      if (method === "Runtime.exceptionThrown") this.problems.push(params.exceptionDetails.exception?.description);
      if (method === "Runtime.consoleAPICalled" && params.type === "error") {
        this.problems.push(params.args.map(({ value, description }) => value ?? description).join(" "));
      }
      if (method === "Log.entryAdded" && params.entry.level === "error" && params.entry.source !== "network") {
        this.problems.push(params.entry.text);
      }
    });
  }

  send(method, parameters = {}) {
    return this.#send(method, parameters, this.#session);
  }

  /** Opens an address; returns when the document is there. */
  async open(address) {
    await this.evaluate("document.__former = true");
    await this.send("Page.navigate", { url: address });
    await this.wait("!document.__former && document.readyState === 'complete'");
  }

  /** Goes back as with the browser's button. */
  async back() {
    const { currentIndex, entries } = await this.send("Page.getNavigationHistory");
    await this.evaluate("document.__former = true");
    await this.send("Page.navigateToHistoryEntry", { entryId: entries[currentIndex - 1].id });
    await this.wait("!document.__former && document.readyState === 'complete'");
  }

  async reload() {
    await this.evaluate("document.__former = true");
    await this.send("Page.reload");
    await this.wait("!document.__former && document.readyState === 'complete'");
  }

  /** Evaluates an expression. */
  async evaluate(expression, { userGesture = false } = {}) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression, awaitPromise: true, returnByValue: true, userGesture,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true, also while other pages are opened; returns its value. */
  async wait(expression, what = expression) {
    const end = Date.now() + secondsMax * 1000;
    let last = "";
    while (Date.now() < end) {
      try {
        const value = await this.evaluate(`(async () => {
          const value = () => (${expression});
          const end = Date.now() + 1000;
          while (!value() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
          return value();
        })()`);
        if (value) return value;
      } catch (error) {
        // The page is being left.
        last = String(error.message);
      }
    }
    throw new Error(`not within ${secondsMax} s: ${what}\n${last}`);
  }

  /** Waits for what has a role and a name. */
  async sees(role, name) {
    await this.wait(`Boolean(lookup.find(${JSON.stringify(role)}, ${JSON.stringify(name)}))`, `${role} ${name}`);
  }

  /** Checks that nothing has a role and a name. */
  async lacks(role, name) {
    assert.equal(await this.evaluate(`Boolean(lookup.find(${JSON.stringify(role)}, ${JSON.stringify(name)}))`), false,
      `${role} ${name}`);
  }

  /** Waits for a text in the region of messages that were done, or with `alert` that were refused. */
  async says(text, region = "status") {
    await this.wait(
      `document.querySelector("[role=${region}]")?.textContent.includes(${JSON.stringify(text)})`, `${region}: ${text}`);
  }

  /** The texts of the items of a list, once it is there. */
  async items(list) {
    await this.sees("list", list);
    return this.evaluate(`lookup.items(${JSON.stringify(list)})`);
  }

  /** Presses a button, or follows a link, with the mouse. */
  async click(name, role = "button") {
    for (let tries = 0; tries < 5; tries += 1) {
      await this.sees(role, name);
      const { x, y } = await this.evaluate(`lookup.middle(${JSON.stringify(role)}, ${JSON.stringify(name)})`);
      for (const type of ["mousePressed", "mouseReleased"]) {
        await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
      }
      // What was below the pointer may have moved away, as a person would see.
      const isClicked = await this.evaluate("lookup.isClicked()").catch(() => true);
      if (isClicked) return;
    }
    throw new Error(`the mouse does not reach ${name}`);
  }

  /** Types into a field. */
  async fill(label, text) {
    await this.sees("textbox", label);
    await this.evaluate(`lookup.select(${JSON.stringify(label)})`);
    await this.send("Input.insertText", { text });
  }

  /** Presses a key. */
  async press(key) {
    const codes = {
      Tab: 9, Enter: 13, Escape: 27, " ": 32, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowRight: 39, ArrowDown: 40,
    };
    const texts = { Enter: "\r", " ": " " };
    for (const type of ["keyDown", "keyUp"]) {
      await this.send("Input.dispatchKeyEvent", {
        type, key, code: key === " " ? "Space" : key, windowsVirtualKeyCode: codes[key],
        ...(type === "keyDown" && texts[key] && { text: texts[key] }),
      });
    }
  }

  /** Moves the focus by the tabulator key to what has a name. */
  async tabTo(name) {
    for (let presses = 0; presses < 60; presses += 1) {
      if (await this.evaluate("lookup.focused()") === name) return;
      await this.press("Tab");
    }
    throw new Error(`the tabulator key does not reach ${name}`);
  }

  /** The name of what has the focus. */
  focused() {
    return this.evaluate("lookup.focused()");
  }

  /** Plugs in an authenticator of passkeys in place of the former one. */
  async plugIn(options) {
    await this.send("WebAuthn.enable", { enableUI: false });
    if (this.authenticator) await this.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId: this.authenticator });
    const { authenticatorId } = await this.send("WebAuthn.addVirtualAuthenticator", { options: {
      protocol: "ctap2", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, ...options,
    } });
    this.authenticator = authenticatorId;
  }

  resize(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** Checks the view with axe in light and dark colours, on a narrow screen, and with large text. */
  async check(what) {
    for (const scheme of ["light", "dark"]) {
      await this.send("Emulation.setEmulatedMedia", { features: [
        { name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" },
      ] });
      if (!await this.evaluate("Boolean(globalThis.axe)")) await this.evaluate(`${axeSource}\n;undefined`);
      // Other rules don't depend on the colours.
      const rules = scheme === "light" ? "{}" : `{ runOnly: ["color-contrast"] }`;
      const violations = await this.evaluate(`axe.run(${rules}).then(({ violations }) => violations.map(({ id, nodes }) =>
        [id, ...nodes.map(({ html, failureSummary }) => html + " " + failureSummary)].join("\\n")))`);
      assert.deepEqual(violations, [], `${what}, ${scheme}`);
    }
    await this.resize(320, 640);
    for (const size of ["", "200%"]) {
      const width = await this.evaluate(`(document.documentElement.style.fontSize = ${JSON.stringify(size)},
        document.documentElement.scrollWidth)`);
      assert.ok(width <= 320, `${what}: ${width} pixels wide with text of ${size || "100%"}`);
    }
    await this.evaluate("document.documentElement.style.fontSize = ''");
    await this.resize(1_000, 800);
  }

  /** The cookies of the tab. */
  async cookies() {
    const { cookies } = await this.send("Network.getCookies", { urls: [await this.evaluate("location.href")] });
    return cookies;
  }

  /** Changes the answers of a path, as a server with other texts would have them. */
  async change(path, edit) {
    await this.intercept([{ urlPattern: `${base}${path}`, requestStage: "Response" }], async (paused) => {
      const { requestId, responseHeaders } = paused;
      const { body } = await this.send("Fetch.getResponseBody", { requestId });
      const answer = JSON.parse(Buffer.from(body, "base64").toString());
      edit(answer);
      await this.send("Fetch.fulfillRequest", {
        requestId, responseCode: 200,
        responseHeaders: responseHeaders.filter(({ name }) => name !== "Content-Length"),
        body: Buffer.from(JSON.stringify(answer)).toString("base64"),
      });
    });
  }

  /** Refuses the next request for a path, as a server that is busy. */
  async refuseOnce(path) {
    await this.intercept([{ urlPattern: `${base}${path}` }], async ({ requestId }) => {
      this.onpaused = () => {};
      await this.send("Fetch.fulfillRequest", {
        requestId, responseCode: 503,
        responseHeaders: [{ name: "Retry-After", value: "1" }, { name: "Content-Type", value: "application/json" }],
        body: Buffer.from(`{"error":{"code":"UNAVAILABLE","message":"busy"}}`).toString("base64"),
      });
      await this.endInterception();
    });
  }

  /** Refuses the next request for a path with a code. */
  async refuse(path, responseCode, code, details = {}) {
    await this.intercept([{ urlPattern: `*${path}` }], async ({ requestId }) => {
      this.onpaused = () => {};
      await this.send("Fetch.fulfillRequest", {
        requestId, responseCode, responseHeaders: [{ name: "Content-Type", value: "application/json" }],
        body: Buffer.from(JSON.stringify({ error: { code, message: "refused", details } })).toString("base64"),
      });
      await this.endInterception();
    });
  }

  /** Answers the next request for a path as an intermediary that does not forward it. */
  async garbleOnce(path) {
    await this.intercept([{ urlPattern: `${base}${path}` }], async ({ requestId }) => {
      this.onpaused = () => {};
      await this.send("Fetch.fulfillRequest", {
        requestId, responseCode: 200, responseHeaders: [{ name: "Content-Type", value: "text/html" }],
        body: Buffer.from("<html>").toString("base64"),
      });
      await this.endInterception();
    });
  }

  /** Holds the next request for a path back; returns a function that lets it go on, or with a reason loses it. */
  async hold(path) {
    let hold;
    const paused = new Promise((resolve) => { hold = resolve; });
    await this.intercept([{ urlPattern: `*${path}` }], hold);
    return async (errorReason) => {
      const { requestId } = await paused;
      const method = errorReason ? "Fetch.failRequest" : "Fetch.continueRequest";
      await this.send(method, { requestId, ...(errorReason && { errorReason }) });
      await this.endInterception();
    };
  }

  /**
   * Has the page wait for the answers of requests whose path fits a pattern, until they are released. In the page `held` has
   * them in the order of the requests.
   */
  async holdAnswers(pattern) {
    await this.evaluate(`(() => {
      const real = fetch;
      globalThis.held = [];
      globalThis.fetch = async (path, init) => {
        if (!${pattern}.test(path)) return real(path, init);
        const own = { path: String(path) };
        const released = new Promise((resolve) => { own.release = resolve; });
        own.isRead = new Promise((resolve) => { own.read = resolve; });
        held.push(own);
        const response = await real(path, init);
        await released;
        const { ok, status, headers } = response;
        return { ok, status, headers, text: () => response.text().finally(() => own.read()) };
      };
    })()`);
  }

  /** Releases the answer of a held request; returns when the page has read it. */
  async release(index) {
    await this.wait(`globalThis.held?.[${index}]`, `request ${index}`);
    await this.evaluate(`(held[${index}].release(), held[${index}].isRead)`);
    // What follows from the answer at once is done before another evaluation.
    await this.evaluate("new Promise((resolve) => { setTimeout(resolve); })");
  }

  /** Loses each request for one of some paths; with `stage: "Response"`, the server does what they ask for. */
  async lose(paths, { stage: requestStage = "Request", onlyOnce = false } = {}) {
    const patterns = paths.map((path) => ({ urlPattern: `*${path}`, requestStage }));
    await this.intercept(patterns, async ({ requestId }) => {
      // A repetition may come before the end of the interception, which lets it go on.
      if (onlyOnce) this.onpaused = () => {};
      await this.send("Fetch.failRequest", { requestId, errorReason: "ConnectionReset" });
      if (onlyOnce) await this.endInterception();
    });
  }

  /** Calls a function with each request for one of some patterns, which waits for it. */
  async intercept(patterns, onpaused) {
    // The browser answers before its network process intercepts, so requests of a path of their own show when it does.
    const probe = "/intercepted";
    let begins;
    const hasBegun = new Promise((resolve) => { begins = resolve; });
    this.onpaused = async (paused) => {
      if (!paused.request.url.endsWith(probe)) {
        await onpaused(paused);
        return;
      }
      begins(true);
      await this.send("Fetch.failRequest", { requestId: paused.requestId, errorReason: "Aborted" });
    };
    await this.send("Fetch.enable", { patterns: [...patterns, { urlPattern: `*${probe}` }] });
    const origin = await this.evaluate(`location.protocol === "about:" ? ${JSON.stringify(base)} : location.origin`);
    do {
      await this.evaluate(`fetch(${JSON.stringify(origin + probe)}, { mode: "no-cors" }).catch(() => {})`);
    } while (!await Promise.race([hasBegun, false]));
  }

  /** Lets every request go on. */
  async endInterception() {
    this.onpaused = () => {};
    await this.send("Fetch.disable");
  }

  async #answer(paused) {
    const { onpaused } = this;
    try {
      await onpaused(paused);
    } catch (error) {
      // A request that was paused when the interception ended has gone on.
      if (this.onpaused === onpaused) throw error;
    }
  }

  /** Permits the page to use the clipboard; returns a function for its text. */
  async useClipboard() {
    await this.send("Browser.grantPermissions", {
      permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"], browserContextId: this.context,
    }).catch(() => {});
    return () => this.evaluate("navigator.clipboard.readText()", { userGesture: true });
  }

  /** The bodies of the answers of the API to the page that is shown. */
  async bodies() {
    const bodies = [];
    for (const { id } of this.responses.filter(({ mimeType }) => mimeType === "application/json")) {
      // Those of former pages are gone.
      const answer = await this.send("Network.getResponseBody", { requestId: id }).catch(() => null);
      if (answer) bodies.push(answer.body);
    }
    assert.ok(bodies.length > 2);
    return bodies;
  }

  /** The address and the texts of the page, for the messages of failed tests. */
  async describe() {
    return `${await this.evaluate("location.href + '\\n' + document.body.innerText")}\n${this.problems.join("\n")}`;
  }
}

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: tools/test --filter PageTests sets it`);
  return value;
}
