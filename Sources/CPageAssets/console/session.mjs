// Requests of the console: at most three at a time, with the token of the session.

import { Api, Refused, randomKey } from "../lib/api.mjs";

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

  async begin() {
    this.session = await this.send("GET", `${this.root}console/session`, undefined, {});
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
      const { staff } = this.session;
      const session = await this.begin();
      if (!session.staff) {
        this.session = { ...session, staff };
        this.onover();
      }
      const isSame = session.staff?.id === staff?.id && session.staff?.role === staff?.role;
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
