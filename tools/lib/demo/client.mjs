// Requests of people and of support to a ledger in development mode.

import { createHash, createHmac, generateKeyPairSync, randomBytes } from "node:crypto";

const secondsMax = 30;
const pauseMilliseconds = 100;

/** An answer that is no success. */
export class Refused extends Error {
  constructor(method, path, status, answer) {
    super(`${method} ${path} was answered ${status} ${answer?.error?.code ?? ""}: ${answer?.error?.message ?? "no JSON"}`);
    this.status = status;
    this.code = answer?.error?.code ?? "";
    this.details = answer?.error?.details ?? {};
  }
}

export class Client {
  /** The number of requests so far. */
  requests = 0;
  #base;
  #key;
  #read = new Set();

  /** Makes a client of the server at an address, with the API key of an administrator. */
  constructor(base, key) {
    this.#base = base;
    this.#key = key;
  }

  /** Sends a request; waits while the server is busy. */
  async ask(method, path, body, headers = {}) {
    const end = Date.now() + secondsMax * 1000;
    for (;;) {
      this.requests += 1;
      const response = await fetch(this.#base + path, {
        method, redirect: "error", signal: AbortSignal.timeout(secondsMax * 1000),
        headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const answer = await response.json().catch(() => null);
      if (response.ok) return answer;
      if (response.status !== 503 || Date.now() > end) throw new Refused(method, path, response.status, answer);
      await pause(1000 * Number(response.headers.get("Retry-After") ?? 1));
    }
  }

  /** Sends a request of an account's holder. */
  as(person, method, path, body) {
    return this.ask(method, path, body, { Authorization: `Bearer ${person.token}` });
  }

  /** Sends a request of an administrator, with the reason for it. */
  support(method, path, body, reason = "demonstration") {
    return this.ask(method, path, body, { Authorization: `Bearer ${this.#key}`, "Ledger-Reason": reason });
  }

  /** Does something of support as its preview says; the preview has the same address with `/preview`. */
  async repair(path, words, body = {}) {
    const { plan_digest } = await this.support("POST", `${path}/preview`, Object.keys(body).length ? body : undefined, words.reason);
    return this.support("POST", path, { ...body, plan_digest, case: words.case }, words.reason);
  }

  /** The conflicts of an account, once those of the whole log are there. */
  async conflicts(account) {
    const end = Date.now() + secondsMax * 1000;
    while (Date.now() < end) {
      const { conflicts, folded } = await this.support("GET", `/v1/conflicts?account=${account}`);
      if (folded.size === folded.log_size) return conflicts;
      await pause(pauseMilliseconds);
    }
    throw new Error(`the conflicts were behind the log for ${secondsMax} s`);
  }

  /** The code in the next message to an address. */
  async code(address) {
    const end = Date.now() + secondsMax * 1000;
    while (Date.now() < end) {
      const { messages } = await this.ask("GET", "/dev/outbox");
      const next = messages.find(({ to, template, message_id }) => to === address && template.endsWith("_code") && !this.#read.has(message_id));
      if (next) {
        this.#read.add(next.message_id);
        return /[0-9]{6}/.exec(next.text)?.[0];
      }
      await pause(pauseMilliseconds);
    }
    throw new Error(`no message with a code was sent to ${address}`);
  }

  /** A proof that the person of a name signs in at a provider now. */
  async proof(provider, person, purpose = "sign-in") {
    switch (provider) {
      case "google":
      case "apple": {
        const { id_token } = await this.#mint(provider, person);
        return { id_token };
      }
      case "facebook":
      case "github": {
        const { access_token } = await this.#mint(provider, person);
        return { access_token };
      }
      case "x":
      case "linkedin":
        return this.#flow(provider, person, purpose);
      case "email":
      case "phone": {
        const address = provider === "email" ? person.email : person.phone;
        const { challenge_id } = purpose === "link"
          ? await this.as(person, "POST", `/v1/account/codes/${provider}`, { address })
          : await this.ask("POST", `/v1/auth/codes/${provider}`, { address });
        return { challenge_id, code: await this.code(address) };
      }
      case "passkey": {
        const path = purpose === "link" ? "/v1/account/passkeys/passkey/create" : "/v1/auth/passkeys/passkey/create";
        const { challenge_id, options } = await this.as(person, "POST", path, {});
        return { challenge_id, credential: passkey(options, this.#base.replace("127.0.0.1", "localhost")) };
      }
      default:
        throw new Error(`no proof of ${provider}`);
    }
  }

  /** Signs in, or up; the person keeps the session. */
  async signIn(person, provider) {
    let body = {};
    if (provider === "password" && person.userID) body = { email: person.email, password: person.password };
    else if (provider === "password") {
      const { challenge_id } = await this.ask("POST", "/v1/auth/sign-up/password", { email: person.email, password: person.password });
      body = { challenge_id, code: await this.code(person.email) };
    } else if (provider !== "anonymous") body = await this.proof(provider, person);
    const session = await this.ask("POST", `/v1/auth/sign-in/${provider}`, body);
    person.token = session.access_token;
    person.userID = session.user_id;
    return session;
  }

  /** Links an identity, of another person for a conflict. */
  async link(person, provider, other = person) {
    const proof = await this.proof(provider, { ...other, token: person.token }, "link");
    return this.as(person, "POST", `/v1/auth/link/${provider}`, proof);
  }

  /** Enrols an authenticator app. */
  async enrol(person) {
    const { enrolment_token, secret } = await this.as(person, "POST", "/v1/account/factor-enrolments", { type: "totp" });
    return this.as(person, "POST", "/v1/account/factors", { enrolment_token, code: timeCode(secret) });
  }

  #mint(provider, person) {
    return this.ask("GET", `/dev/idp/${provider}/token?${new URLSearchParams({ name: person.name })}`);
  }

  /** A browser flow, from the page that begins it to the code with which it returns. */
  async #flow(provider, person, purpose) {
    const code_verifier = randomBytes(32).toString("hex");
    const flow = {
      provider, purpose: purpose === "link" ? "link" : "sign_in", return_to: "http://127.0.0.1:3000/callback",
      code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
    };
    const { authorize_url } = await this.as(person, "POST", "/v1/auth/flows", flow);
    const cookies = [];
    const visit = async (address, form) => {
      this.requests += 1;
      const response = await fetch(address, {
        redirect: "manual", signal: AbortSignal.timeout(secondsMax * 1000), headers: { Cookie: cookies.join("; ") },
        ...(form && { method: "POST", body: new URLSearchParams(form) }),
      });
      cookies.push(...response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]));
      return new URL(response.headers.get("Location") ?? "", address).href;
    };
    const back = await visit(await visit(await visit(authorize_url), { name: person.name }));
    return { flow_code: new URL(back).searchParams.get("flow_code"), code_verifier };
  }
}

/** A passkey of a new authenticator: Ed25519, without attestation. */
function passkey(options, origin) {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const id = randomBytes(16);
  const head = (major, count) => Buffer.from(count < 24 ? [major << 5 | count] : [major << 5 | 24, count]);
  const bytes = (value) => Buffer.concat([head(2, value.length), value]);
  const text = (value) => Buffer.concat([head(3, value.length), Buffer.from(value)]);
  // CBOR: the key type OKP, the algorithm EdDSA, the curve Ed25519, the key.
  const key = Buffer.concat([
    head(5, 4), head(0, 1), head(0, 1), head(0, 3), head(1, 7), head(1, 0), head(0, 6), head(1, 1),
    bytes(Buffer.from(x ?? "", "base64url")),
  ]);
  // A person was present and recognised, and a key is included.
  const flags = Buffer.from([0x45]);
  const data = Buffer.concat([
    createHash("sha256").update(options.rp.id).digest(), flags, Buffer.alloc(4), Buffer.alloc(16), Buffer.from([0, id.length]), id, key,
  ]);
  const attestation = Buffer.concat([head(5, 3), text("fmt"), text("none"), text("attStmt"), head(5, 0), text("authData"), bytes(data)]);
  const client = JSON.stringify({ type: "webauthn.create", challenge: options.challenge, origin, crossOrigin: false });
  return {
    id: id.toString("base64url"), rawId: id.toString("base64url"), type: "public-key", clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(client).toString("base64url"), attestationObject: attestation.toString("base64url"), transports: [],
    },
  };
}

/** The code of an authenticator app (RFC 6238). */
function timeCode(secret) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const count = Buffer.alloc(8);
  count.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac("sha1", key).update(count).digest();
  const offset = mac[mac.length - 1] & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}
