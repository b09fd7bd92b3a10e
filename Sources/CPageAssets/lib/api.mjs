// Requests to the server. The session is in a cookie that no script can read.

const triesMax = 3;
const waitSecondsMax = 10;

/** An answer that is no success, or none at all (`NETWORK`). */
export class Refused extends Error {
  /** @param {{status: number, code: string, details?: any, requestId?: string | null, retryAfter?: number}} answer */
  constructor({ status, code, details = {}, requestId = null, retryAfter = 0 }) {
    super(code);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

export class Api {
  /** @type {any} the last answer of `account/session` */
  session = {};
  /** @type {string | null} the address to which the page is to lead back */
  returnTo = null;
  /** The language of messages that requests send. */
  language = "";
  /** Called before a wait of some seconds for a busy server. */
  onwait = () => {};

  /** Reads the session of the page, with its token. */
  async begin() {
    const query = this.returnTo ? `?${new URLSearchParams({ return: this.returnTo })}` : "";
    this.session = await this.send("GET", `account/session${query}`, undefined, {});
    return this.session;
  }

  /**
   * Sends a request; changes carry a key, so that a repetition changes nothing twice.
   *
   * @param {string} method
   * @param {string} path relative to the page
   * @param {object} [body]
   * @param {{isRepeatable?: boolean, headers?: Record<string, string>}} options
   * @returns {Promise<any>} the answer's body
   */
  async call(method, path, body = undefined, { isRepeatable = false, headers: own = {} } = {}) {
    const headers = { ...own };
    if (isRepeatable) headers["Idempotency-Key"] = randomKey();
    if (this.language) headers["Accept-Language"] = this.language;
    const user = this.session.user_id;
    try {
      return await this.send(method, path, body, { ...headers, "Ledger-CSRF": this.session.csrf_token });
    } catch (error) {
      // Another tab has signed in, or the session of the page is over: the request was refused unread.
      if (!(error instanceof Refused && error.status === 403 && error.code === "FORBIDDEN")) throw error;
      await this.begin();
      if (this.session.user_id !== user) throw new Refused({ status: 401, code: "INVALID_ACCESS_TOKEN" });
      return await this.send(method, path, body, { ...headers, "Ledger-CSRF": this.session.csrf_token });
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object | undefined} body
   * @param {Record<string, string>} headers
   * @param {{isRead?: boolean, read?: (response: Response) => Promise<any>}} options `read` reads an answer that is no JSON
   */
  async send(method, path, body, headers, { isRead = method === "GET", read } = {}) {
    const hasKey = Boolean(headers["Idempotency-Key"]);
    let isLost = false;
    for (let tries = 1; ; tries += 1) {
      const refused = await this.once(method, path, body, headers, read);
      if (!(refused instanceof Refused)) return refused;
      if (refused.code === "NETWORK" && hasKey && !isLost) {
        // Perhaps only the answer was lost; the key has it repeated.
        isLost = true;
        continue;
      }
      const mayWait = refused.status === 503 && refused.retryAfter > 0 && refused.retryAfter <= waitSecondsMax;
      if (!mayWait || tries === triesMax || (!isRead && !hasKey)) throw refused;
      this.onwait();
      await new Promise((resolve) => setTimeout(resolve, refused.retryAfter * 1000));
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object | undefined} body
   * @param {Record<string, string>} headers
   * @param {((response: Response) => Promise<any>) | undefined} read
   * @returns {Promise<any>}
   */
  async once(method, path, body, headers, read) {
    let response;
    let text;
    try {
      response = await fetch(path, {
        method, credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
        headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (response.ok && read) return await read(response);
      text = await response.text();
    } catch {
      return new Refused({ status: 0, code: "NETWORK" });
    }
    const answer = parsed(text);
    // Anything but JSON is from an intermediary: the response is lost.
    if (response.ok) return answer ?? new Refused({ status: 0, code: "NETWORK" });
    return new Refused({
      status: response.status, code: answer?.error?.code ?? "INTERNAL", details: answer?.error?.details ?? {},
      requestId: response.headers.get("X-Request-Id"), retryAfter: retryAfter(response),
    });
  }
}

/** The seconds of `Retry-After`, which may be a date; 0 without any. */
export function retryAfter({ headers }) {
  const value = headers.get("Retry-After") ?? "";
  const seconds = Number.isNaN(Number(value)) ? (Date.parse(value) - Date.now()) / 1000 : Number(value);
  return Math.max(seconds, 0) || 0;
}

function parsed(text) {
  try {
    return text ? JSON.parse(text) : {};
  } catch {
    return null;
  }
}

export function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
