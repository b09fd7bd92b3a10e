// The session of the console: its requests, at most three at a time and with its token; a warning before its end, a way
// on after it that keeps what was typed, and what is shown without a session or a role.

import { el } from "../lib/el.mjs";
import { Api, Refused, randomKey } from "../lib/api.mjs";
import { timeText } from "./format.mjs";
import { hush, say, showView, warn } from "./frame.mjs";
import { refusalSentence } from "./words.mjs";

/** The key of what a person typed, kept in the tab on the way to another sign-in alone. */
export const keptKey = "console-erase";

const requestsMax = 3;
/** The role has to be chosen, or the session is over. */
const tokenCode = "FORBIDDEN";
/** Requests by POST that change nothing. */
const readPaths = /\/preview$|^v1\/(search|exports)$/;

export class ConsoleApi extends Api {
  /** The address of the ledger's paths, which ends with a slash. */
  root;
  /** Called when the session is over. */
  onover = () => {};
  /** Called with each answer, which has prolonged the session. */
  onuse = () => {};
  /** The id of what a person asked for: the requests that it needs have it in common. */
  #action = "";
  #running = 0;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {string} root */
  constructor(root) {
    super();
    this.root = root;
  }

  /** Begins what a person asked for. */
  beginAction() {
    this.#action = newID();
  }

  /** Reads the session, with its end by the clock of this machine, which may be a wrong one. */
  async begin() {
    const session = await this.send("GET", `${this.root}console/session`, undefined, {});
    this.session = { ...session, end: Date.now() + session.expires_in * 1000 };
    return this.session;
  }

  /**
   * @param {string} method
   * @param {string} path below the ledger's paths
   * @param {object} [body]
   * @param {{isRepeatable?: boolean, headers?: Record<string, string>}} options
   * @returns {Promise<any>} the answer's body
   */
  call(method, path, body = undefined, options = {}) {
    return this.#ask(method, path, body, options, {});
  }

  /**
   * Asks for a file by a request that changes nothing, and may be repeated.
   *
   * @param {string} path below the ledger's paths
   * @param {object} body
   * @returns {Promise<Blob>}
   */
  download(path, body) {
    return this.#ask("POST", path, body, {}, { isRead: true, read: (response) => response.blob() });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object | undefined} body
   * @param {{isRepeatable?: boolean, headers?: Record<string, string>}} options
   * @param {{isRead?: boolean, read?: (response: Response) => Promise<any>}} reading
   */
  async #ask(method, path, body, { isRepeatable = false, headers = {} }, reading) {
    const own = {
      ...headers, ...(isRepeatable && { "Idempotency-Key": randomKey() }),
      "X-Request-Id": method === "GET" && this.#action ? this.#action : newID(),
    };
    const token = this.session.csrf_token;
    const send = () => this.send(method, this.root + path, body, { ...own, "Ledger-CSRF": this.session.csrf_token ?? "" }, reading)
      .catch((error) => {
        // Of a change, perhaps only the answer was lost.
        if (error.code === "NETWORK") error.details = { mayHaveActed: method !== "GET" && !readPaths.test(path) };
        throw error;
      });
    await this.enter();
    try {
      const answer = await send();
      this.onuse();
      return answer;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 401) this.onover();
      if (error.status !== 403 || error.code !== tokenCode) throw error;
      // Perhaps another tab has signed in: then the token is another one, and the request was refused unread.
      const former = this.session;
      const { staff } = former;
      const session = await this.begin();
      if (!session.staff) {
        this.session = { ...session, staff };
        this.onover();
      }
      const isSame = session.staff?.id === staff?.id && session.staff?.role === staff?.role;
      if (session.staff && !isSame) {
        // Another person, or another role: nothing is done in their name on a page of the former one.
        this.session = former;
        location.reload();
      }
      if (!isSame || session.csrf_token === token) throw error;
      return await send();
    } finally {
      this.leave();
    }
  }

  /** Waits for a free place among the requests; for streams, which hold one until `leave`. */
  async enter() {
    if (this.#running >= requestsMax) await new Promise((resolve) => { this.#waiting.push(() => resolve(undefined)); });
    else this.#running += 1;
  }

  leave() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

/** A UUID of version 7: the time, and random bits. */
export function newID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(bytes.buffer);
  const now = Date.now();
  view.setUint32(0, Math.floor(now / 0x10000));
  view.setUint16(4, now % 0x10000);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const warningSeconds = 120;

/**
 * Watches the session.
 *
 * @param {ConsoleApi} api
 * @param {{signInAddress: () => string}} ways
 */
export function watch(api, { signInAddress }) {
  /** @type {number | undefined} */
  let timer;
  let isOver = false;
  let isWarned = false;

  function plan() {
    const { staff, idle_seconds, end: last } = api.session;
    clearTimeout(timer);
    if (!staff) return;
    if (isWarned) hush();
    isWarned = false;
    const now = Date.now();
    const end = Math.min(now + idle_seconds * 1000, last);
    timer = setTimeout(() => warnBefore(end, end === last), Math.max(0, end - now - warningSeconds * 1000));
  }

  function warnBefore(end, isLast) {
    isWarned = true;
    const at = timeText(new Date(end).toISOString(), "clock");
    const stay = el("button", { type: "button", onclick: () => keep().catch(() => check()) }, "Stay signed in");
    const again = el("a", { href: signInAddress(), target: "_blank", rel: "noopener" }, "Sign in again in another tab");
    warn(`Your session ends at ${at}${isLast ? "" : ", unless you go on"}.`, el("p", {}, isLast ? again : stay));
    timer = setTimeout(check, Math.max(0, end - Date.now() + 1_000));
  }

  /** A request that changes nothing and is a use of the session. */
  async function keep() {
    await api.call("POST", "console/role", { role: api.session.staff.role });
    say("You stay signed in.");
  }

  /** Asks whether the session is still there. */
  async function check() {
    const { staff } = api.session;
    const session = await api.begin().catch((error) => {
      say(refusalSentence(error));
      return null;
    });
    if (!session) return;
    if (!session.staff) {
      api.session = { ...session, staff };
      over();
    } else if (session.staff.id !== staff?.id || session.staff.role !== staff?.role) {
      location.reload();
    } else if (isOver) {
      isOver = false;
      plan();
      hush();
      say("You are signed in again.");
    } else {
      plan();
    }
  }

  function over() {
    clearTimeout(timer);
    isOver = true;
    document.dispatchEvent(new Event("session-over"));
    warn("Your session is over. Sign in again in another tab: what you have typed stays on this page.",
      el("p", { class: "actions" },
        el("a", { class: "button", href: signInAddress(), target: "_blank", rel: "noopener" }, "Sign in"),
        el("button", { type: "button", onclick: check }, "I have signed in")));
  }

  api.onuse = plan;
  api.onover = over;
  addEventListener("focus", () => { if (isOver) check(); });
  return {
    isOver: () => isOver,
    /** Stops the watch, until the next request. */
    pause: () => clearTimeout(timer),
  };
}

/** Why a sign-in failed, by the codes of the address to which it led back. */
const faults = {
  denied: "You were not signed in: the identity provider said no, or you cancelled.",
  expired: "The sign-in took too long, or began in another browser. Try again.",
  refused: "You were not signed in: the identity provider's answer does not prove who you are.",
  unavailable: "The identity provider cannot be reached. Try again in a moment.",
};
const roleTexts = {
  auditor: "Auditor: reads everything but personal data", support: "Support: finds and repairs accounts",
  admin: "Administrator: also sets legal holds, erases and exports",
};

/**
 * @param {string} address of the sign-in, which leads back here
 * @param {string | null} fault of a sign-in before
 */
export function showSignIn(address, fault) {
  showView("Console", [
    el("p", {}, "For auditors, support and administrators."),
    el("p", {}, el("a", { class: "button primary", href: address }, "Sign in")),
  ]);
  if (fault) warn(faults[fault] ?? "You were not signed in. Try again.");
}

/** @param {() => void} signOut */
export function showNoRole(name, signOut) {
  showView("No role", [
    el("p", {}, `You are signed in as ${name}, but have no role here.`),
    el("p", { class: "quiet" }, "Ask those who operate this server for a role, or sign in as another person."),
    el("p", {}, el("button", { type: "button", onclick: () => signOut() }, "Sign out")),
  ]);
}

/** @param {(role: string) => void} choose */
export function showChoice(names, choose) {
  showView("Choose a role", [
    el("p", {}, "You have several roles here. The log names the one in which you act."),
    el("div", { class: "choices" }, ...names.map((name) =>
      el("button", { type: "button", onclick: () => choose(name) }, roleTexts[name] ?? name))),
  ]);
}
