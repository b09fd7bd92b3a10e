// Server-sent events read by fetch, since EventSource can't send the token against forgery.

import { retryAfter } from "../lib/api.mjs";

const lineCharactersMax = 1 << 20;
const retrySecondsMax = 30;

/**
 * An event of a stream; one without data reports progress alone.
 *
 * @typedef {{id: string, event: string, data: string}} Message
 */

/** Takes a stream apart into events, however its parts were cut. */
export class Messages {
  #rest = "";
  /** @type {Message} */
  #message = { id: "", event: "", data: "" };

  /**
   * @param {string} text
   * @returns {Message[]}
   */
  take(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > lineCharactersMax) throw new Error("the stream has a line that is too long");
    /** @type {Message[]} */
    const messages = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#message.data !== "" || this.#message.id !== "") messages.push(this.#message);
        this.#message = { id: "", event: "", data: "" };
        continue;
      }
      const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === "id" || name === "event") this.#message[name] = value;
      if (name === "data") this.#message.data += value;
    }
    return messages;
  }
}

/**
 * Follows a stream until it is stopped, and connects again after a break. It rests while the tab is hidden.
 *
 * @param {{
 *   address: (after: string) => string, headers: () => Record<string, string>, after: string,
 *   onmessage: (message: Message) => void, onstate: (state: "connecting" | "open" | "waiting" | "hidden" | "refused", status?: number) => void,
 * }} options
 * @returns {() => void} a function that stops it
 */
export function follow({ address, headers, after, onmessage, onstate }) {
  let position = after;
  let isStopped = false;
  /** @type {AbortController | null} */
  let connection = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let seconds = 1;

  async function connect() {
    if (isStopped || connection) return;
    if (document.hidden) {
      onstate("hidden");
      return;
    }
    const own = new AbortController();
    connection = own;
    onstate("connecting");
    let wait = seconds;
    try {
      const response = await fetch(address(position), {
        headers: { ...headers(), Accept: "text/event-stream" }, credentials: "same-origin", cache: "no-store", redirect: "error",
        referrerPolicy: "no-referrer", signal: own.signal,
      });
      if (!response.ok || !response.body) {
        // A proxy answers 502 or 504 while the server restarts.
        if (![502, 503, 504].includes(response.status)) {
          isStopped = true;
          onstate("refused", response.status);
          return;
        }
        wait = Math.max(seconds, retryAfter(response));
      } else {
        onstate("open");
        seconds = 1;
        await read(response.body, own);
        wait = seconds;
      }
    } catch {
      // The connection is lost, or was given up.
    }
    if (connection === own) connection = null;
    if (isStopped || own.signal.aborted) return;
    onstate("waiting");
    seconds = Math.min(seconds * 2, retrySecondsMax);
    timer = setTimeout(connect, Math.min(wait, retrySecondsMax) * 1000);
  }

  /**
   * @param {ReadableStream<Uint8Array>} body
   * @param {AbortController} own
   */
  async function read(body, own) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const messages = new Messages();
    while (!own.signal.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const message of messages.take(decoder.decode(value, { stream: true }))) {
        const seen = /^\d+/.exec(message.id)?.[0];
        if (seen !== undefined) position = seen;
        if (message.data !== "") onmessage(message);
      }
    }
  }

  function rest() {
    clearTimeout(timer);
    connection?.abort();
    connection = null;
  }

  function onvisibility() {
    if (document.hidden) {
      rest();
      onstate("hidden");
    } else {
      connect();
    }
  }

  document.addEventListener("visibilitychange", onvisibility);
  connect();
  return () => {
    isStopped = true;
    document.removeEventListener("visibilitychange", onvisibility);
    rest();
  };
}
