/**
 * Client of AccountLedger's HTTP API, for browsers and Node; docs/javascript-client.md describes it.
 *
 * Members of bodies have the names of the HTTP API, in arguments and in results.
 */

/** The default time of a call with its retries, in milliseconds. */
const CALL_MS = 30_000;
/** The time after which a request counts as unanswered and is repeated, where that is safe. */
const ATTEMPT_MS = 10_000;
/** The same for a refresh: the server accepts a used refresh token again for 10 seconds only. */
const REFRESH_ATTEMPT_MS = 3_000;
const ATTEMPTS_MAX = 4;
/** The first wait before a repetition, if the server names none; it doubles each time. */
const BACKOFF_MS = 200;
/** An access token is renewed this long before it expires. */
const EXPIRY_MARGIN_MS = 5_000;
/** The longest time that platforms can set a timer to. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * @typedef {"INVALID_REQUEST" | "UNSUPPORTED_PROVIDER" | "CANNOT_UNLINK_ONLY_PROVIDER" | "INVALID_ACCESS_TOKEN"
 *   | "INVALID_REFRESH_TOKEN" | "INVALID_PROVIDER_TOKEN" | "INVALID_CODE" | "INVALID_PASSWORD" | "WEAK_PASSWORD" | "INVALID_API_KEY" | "FORBIDDEN"
 *   | "ACCOUNT_DISABLED" | "ADDRESS_UNUSED" | "SECOND_FACTOR_REQUIRED" | "SECOND_FACTOR_ENROLLED" | "SECOND_PERSON_REQUIRED" | "FACTOR_NOT_FOUND" | "FACTOR_REFUSED"
 *   | "REAUTHENTICATION_REQUIRED" | "NOT_FOUND" | "ACCOUNT_NOT_FOUND" | "ACCOUNT_ERASED" | "ACCOUNT_MERGED" | "PROVIDER_NOT_LINKED" | "MERGE_NOT_FOUND"
 *   | "METHOD_NOT_ALLOWED" | "PROVIDER_CONFLICT" | "SAME_ACCOUNT" | "MERGE_PLAN_CHANGED" | "MERGE_SUPERSEDED"
 *   | "MERGE_TOO_LARGE" | "LENGTH_REQUIRED" | "PAYLOAD_TOO_LARGE"
 *   | "UNSUPPORTED_MEDIA_TYPE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "INTERNAL" | "UNAVAILABLE"
 *   | "RULES_DIFFER" | "TENANT_MOVED"
 * } ServerErrorCode  A code of the server's error table.
 *
 * @typedef {"NO_ANSWER" | "ABORTED" | "NO_SESSION" | "UNEXPECTED_ANSWER" | "STORE_FAILED"} ClientErrorCode
 *   `NO_ANSWER`: none came in time, so a command may have taken effect. `ABORTED`: the caller's signal fired; the
 *   same holds. `NO_SESSION`: no session is stored. `UNEXPECTED_ANSWER`: the answer is not the ledger's.
 *   `STORE_FAILED`: the store threw, whose error is the `cause`.
 *
 * @typedef {object} Identity
 * @property {string} identity_id
 * @property {string} provider
 * @property {string} linked_at
 * @property {string} [name]  That the person gave to the passkey.
 * @property {string} [email]
 * @property {boolean | null} [email_verified]
 * @property {string} [unlink_due]  When it is unlinked, because support planned it.
 *
 * @typedef {object} Factor
 * @property {string} factor_id
 * @property {"totp" | "phone" | "passkey" | "recovery_codes"} type
 * @property {string} [hint]  The last digits of a phone number.
 * @property {string} [enrolled_at]
 * @property {number} [codes_left]  Of recovery codes.
 * @property {string} [removal_due]  When it is removed, because support planned it.
 *
 * @typedef {object} Account
 * @property {string} user_id
 * @property {string[]} linked_providers  In linking order.
 * @property {Identity[]} identities
 * @property {Factor[]} [factor_removals]  The second factors whose removal support planned.
 *
 * @typedef {object} SignedIn
 * @property {string} user_id
 * @property {boolean} is_new_user
 * @property {string[]} linked_providers
 * @property {string} [anonymous_secret]  Of an anonymous account that was opened. Keep it: it is returned only once.
 * @property {string} [device_token]  After a sign-in with a code, a password or a second factor, and a change of the
 *   password or an address. Keep it, and send it with later ones.
 * @property {string} [challenge_id]  After a sign-up whose address is confirmed later, by `signIn` with the code.
 *
 * @typedef {object} Activity
 * @property {string} event_id
 * @property {string} at
 * @property {string} kind  Such as `signed_in`.
 * @property {"holder" | "support" | "system"} by
 * @property {string} [provider]
 * @property {string} [identity_id]
 * @property {"totp" | "phone" | "passkey" | "recovery_codes"} [factor]
 * @property {boolean} [new_device]  Of a sign-in.
 * @property {boolean} [current_session]  Whether it is about this session.
 * @property {string} [reason]  Of a refusal.
 * @property {string} [client_ip]
 *
 * @typedef {object} Activities
 * @property {Activity[]} activity
 * @property {string} [next]  For `before` of the next page.
 * @property {boolean} more
 *
 * @typedef {object} Enrolment
 * @property {string} [enrolment_token]  Of an authenticator app: sent with the first code.
 * @property {string} [secret]  In base32, to type.
 * @property {string} [uri]  For a QR code.
 * @property {string} [challenge_id]  Of a phone: sent with the code that it got.
 * @property {number} expires_in  In seconds.
 *
 * @typedef {object} EnrolledFactor
 * @property {string} factor_id
 * @property {string[]} [recovery_codes]  With the first factor. Show them: they are returned only once.
 *
 * @typedef {object} LinkedProviders
 * @property {string[]} linked_providers
 * @property {string} message  For people.
 * @property {string} [challenge_id]  After a link whose address is confirmed later, by `signIn` with the code.
 *
 * @typedef {{ id_token: string, nonce?: string } | { access_token: string } | { anonymous_secret?: string }
 *   | { challenge_id: string, code: string, password?: string, device_token?: string }
 *   | { challenge_id: string, credential: Record<string, any> }
 *   | { email: string, password: string, challenge_id?: string, code?: string, device_token?: string }
 *   | { flow_code: string, code_verifier: string }} Proof
 *   By the provider's type: `oidc`, `oauth2`, `anonymous`, `email` and `phone`, `passkey`, or `password`; or the
 *   result of a browser flow, for which `details.proof_token` of a link that was `PROVIDER_CONFLICT` stands ten minutes.
 *
 * @typedef {{ sign_in_token: string, factor_id: string, code?: string, challenge_id?: string, credential?: Record<string, any>, device_token?: string }} SecondStep
 *   With `code`; or with `challenge_id` and `credential`, of a passkey.
 *
 * @typedef {object} SentCode
 * @property {string} challenge_id  Sent with the code.
 * @property {number} expires_in  In seconds.
 *
 * @typedef {object} PasskeyOptions
 * @property {string} challenge_id  Sent with the response of the browser.
 * @property {Record<string, any>} options  For `PublicKeyCredential.parseCreationOptionsFromJSON` or
 *   `parseRequestOptionsFromJSON`.
 * @property {number} expires_in  In seconds.
 *
 * @typedef {object} Provider
 * @property {string} name  In paths and bodies.
 * @property {string} display_name  For people.
 * @property {"oidc" | "oauth2" | "anonymous" | "password" | "passkey" | "email" | "phone"} type
 * @property {boolean} has_flow  Whether `beginFlow` can be used with it.
 *
 * @typedef {object} Flow
 * @property {string} authorize_url  Opened in the browser.
 * @property {number} expires_in  In seconds.
 *
 * @typedef {{ provider: string, purpose: string, return_to: string, code_challenge: string, plan_digest?: string }} FlowStart
 *
 * @typedef {Record<string, "survivor" | "absorbed">} Keep  By provider, whose identity stays.
 *
 * @typedef {{ identity_id: string, provider: string, linked_at: string, email_verified?: boolean | null }} MergedIdentity
 *
 * @typedef {object} MergeEffects
 * @property {string} user_id
 * @property {string} absorbed_user_id
 * @property {MergedIdentity[]} kept
 * @property {MergedIdentity[]} moved
 * @property {(MergedIdentity & { of: "survivor" | "absorbed", rule: string })[]} left_behind
 * @property {{ provider: string, keep: "survivor" | "absorbed" }[]} choices
 * @property {{ of_account: string, opened_by: string[] }} sessions_end
 * @property {{ factor_id: string, of: "survivor" | "absorbed" }[]} factors  One of which every sign-in needs afterwards.
 * @property {string[]} linked_providers
 *
 * @typedef {MergeEffects & { plan_digest: string, expires_in: number }} MergePlan
 * @typedef {MergeEffects & { merge: string }} Merged  `merge` is the id of the merge.
 *
 * @typedef {MergePlan & { needs_two?: boolean, asked_by?: string }} SupportMergePlan  With `needs_two`, `mergeAccounts`
 *   only asks.
 * @typedef {{ merge_request: string, expires_in: number }} MergeRequest  For another person of support, to confirm it.
 *
 * @typedef {object} UndoEffects
 * @property {{ user_id: string, given_back: MergedIdentity[], linked_providers: string[], factors: string[] }[]} accounts
 *
 * @typedef {UndoEffects & { needs_two: boolean, asked_by?: string }} UndoPlan  With `needs_two`, `undoMerge` only asks.
 * @typedef {UndoEffects & { unmerge: string }} Undone  `unmerge` is the id of the undoing.
 *
 * @typedef {{ undo_request: string, expires_in: number }} UndoRequest  For another person of support, to confirm it.
 *
 * @typedef {object} StoredSession
 * @property {string} user_id
 * @property {string} access_token
 * @property {string} refresh_token
 * @property {number} expires_at  When the access token expires, in milliseconds since 1970.
 * @property {string} [sign_in_id]  The same after each renewal, and another one after each sign-in.
 *
 * @typedef {object} UnsavedSession  One that the store did not take.
 * @property {StoredSession} session
 * @property {string | null} [replaced]  The refresh token that is stored in its place; absent if that cannot be read.
 *
 * @typedef {object} SessionStore  Keeps one session. It is a secret, which suffices to act for the account holder.
 * @property {() => StoredSession | null | Promise<StoredSession | null>} load
 * @property {(session: StoredSession) => void | Promise<void>} save
 * @property {() => void | Promise<void>} clear
 * @property {<Value>(work: () => Promise<Value>) => Promise<Value>} [exclusively]
 *   Runs work while no other page or process with the same store does; for stores that are shared.
 *
 * @typedef {object} ClientOptions
 * @property {string} url  The address of the ledger, such as `https://ledger.example`.
 * @property {string} [tenant]  `default` if left out.
 * @property {number} [timeout]  The time of a call with its retries, in milliseconds.
 * @property {typeof fetch} [fetch]
 *
 * @typedef {object} StoreOptions
 * @property {SessionStore} [store]  In memory if left out.
 * @property {(error: AccountLedgerError) => void} [onStoreError]  Called with `STORE_FAILED` when the store did not
 *   take a session. The call succeeds: the session is used from memory, and saved by a later call.
 *
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal]  Ends the call with `ABORTED`.
 * @property {number} [timeout]
 *
 * @typedef {object} CommandOptions
 * @property {string} [idempotencyKey]  Random if left out. With a key of its own, a program can repeat a command
 *   after a restart.
 */

/** The error of every failed call: a refusal of the ledger, a fault, or no answer. */
export class AccountLedgerError extends Error {
  /**
   * @param {object} fields
   * @param {ServerErrorCode | ClientErrorCode} fields.code
   * @param {string} fields.message
   * @param {number} [fields.status]
   * @param {Record<string, any> & { proof_token?: string }} [fields.details]
   * @param {string} [fields.requestId]
   * @param {number} [fields.retryAfter]
   * @param {unknown} [fields.cause]
   */
  constructor({ code, message, status = 0, details = {}, requestId, retryAfter, cause }) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AccountLedgerError";
    /** What programs act on. */
    this.code = code;
    /** The HTTP status; 0 when no answer came. */
    this.status = status;
    /** What the refusal concerns, such as `{"field":"id_token"}`. */
    this.details = details;
    /** The request's name in the ledger's log. */
    this.requestId = requestId;
    /** The seconds to wait before a repetition. */
    this.retryAfter = retryAfter;
  }
}

/**
 * A call of the API, with its retries.
 *
 * @typedef {object} Call
 * @property {string} requestId
 * @property {number} deadline
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} Request
 * @property {"GET" | "POST" | "PUT" | "DELETE"} method
 * @property {string} path
 * @property {object} [body]
 * @property {Record<string, string>} [headers]
 * @property {boolean} [isUnrepeatable]
 * @property {number} [attemptMs]
 * @property {() => void} [onLost]  Called when no answer came, so that the ledger may have acted.
 */

/** Sends requests to one tenant of a ledger. */
class Transport {
  #base;
  #timeout;
  #fetch;

  /** @param {ClientOptions} options */
  constructor({ url, tenant, timeout = CALL_MS, fetch }) {
    const base = new URL(url);
    if (base.username || base.password || base.search || base.hash) {
      throw new TypeError("url must have no credentials, query or fragment");
    }
    this.#base = base.href.replace(/\/+$/, "") + (tenant === undefined ? "" : `/t/${segment(tenant)}`);
    this.#timeout = timeout;
    // A browser's fetch must not become a method of another object.
    this.#fetch = fetch ?? ((/** @type {string} */ input, /** @type {RequestInit} */ init) => globalThis.fetch(input, init));
  }

  /**
   * @param {CallOptions} options
   * @returns {Call}
   */
  begin({ signal, timeout = this.#timeout }) {
    return { requestId: uuid(), deadline: performance.now() + timeout, signal };
  }

  /**
   * Sends a request, repeatedly if that is safe and may help, and returns the body of its answer.
   *
   * @param {Call} call
   * @param {Request} request
   * @param {string} [token]
   * @returns {Promise<any>}
   */
  async send(call, request, token) {
    const init = requestInit(call, request, token);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(call, request, init);
      } catch (error) {
        if (!(error instanceof AccountLedgerError)) throw error;
        if (error.code === "NO_ANSWER") request.onLost?.();
        const mayHelp = error.code === "NO_ANSWER" || [429, 502, 503, 504].includes(error.status);
        if (!mayHelp || request.isUnrepeatable || attempt === ATTEMPTS_MAX) throw error;
        const backoff = BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
        const wait = error.retryAfter === undefined ? backoff : error.retryAfter * 1_000;
        if (performance.now() + wait >= call.deadline) throw error;
        await pause(call, wait);
      }
    }
  }

  /**
   * @param {Call} call
   * @param {Request} request
   * @param {RequestInit} init
   */
  async #attempt(call, request, init) {
    const { status, headers, text } = await limited(call, request.attemptMs ?? ATTEMPT_MS, async (signal) => {
      try {
        const response = await this.#fetch(this.#base + request.path, { ...init, signal });
        return { status: response.status, headers: response.headers, text: await response.text() };
      } catch (cause) {
        throw unanswered(call, cause);
      }
    });
    const body = parsed(text);
    // 201 answers a sign-up that opens the account at once, 202 what another person of support has to confirm.
    if ([200, 201, 202].includes(status) && body) return body;
    const { code, message, details } = body?.error ?? {};
    const seconds = retryAfter(headers);
    throw new AccountLedgerError({
      status, details, code: code ?? (status === 503 ? "UNAVAILABLE" : "UNEXPECTED_ANSWER"),
      message: message ?? `The ledger's address answered with status ${status}, without the ledger's error`,
      requestId: headers.get("X-Request-Id") ?? call.requestId, retryAfter: seconds,
    });
  }
}

/** Signs people in, and calls the API for the account holder. */
export class AccountLedger {
  #transport;
  #store;
  #onStoreError;
  /** @type {UnsavedSession | null} */
  #unsaved = null;
  /** @type {Promise<StoredSession> | null} */
  #renewal = null;
  /** @type {Promise<unknown>} */
  #lastChange = Promise.resolve();

  /** @param {ClientOptions & StoreOptions} options */
  constructor({ store = memoryStore(), onStoreError = () => {}, ...options }) {
    this.#transport = new Transport(options);
    this.#store = store;
    this.#onStoreError = onStoreError;
  }

  /**
   * Opens a session, and an account unless `create_account` is false. Never repeated by itself, because the second
   * answer would not tell that the account is new. `attestation` is for an anonymous account to be opened, where the
   * operator asks for one.
   *
   * @param {string} provider
   * @param {Proof & { create_account?: boolean, attestation?: string }} proof
   * @param {CallOptions} [options]
   * @returns {Promise<SignedIn>}
   */
  async signIn(provider, proof, options = {}) {
    const answer = await this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/sign-in/${segment(provider)}`, body: proof, isUnrepeatable: true,
    });
    return this.#opened(answer);
  }

  /**
   * Finishes a sign-in that was refused with `SECOND_FACTOR_REQUIRED`, whose `details` have the token and the
   * factors. Not repeated, because a code works once.
   *
   * @param {SecondStep} step
   * @param {CallOptions} [options]
   * @returns {Promise<SignedIn>}
   */
  async finishSignIn(step, options = {}) {
    const answer = await this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: "/v1/auth/second-factor", body: step, isUnrepeatable: true,
    });
    return this.#opened(answer);
  }

  /**
   * Sends the code of a phone for a sign-in that was refused with `SECOND_FACTOR_REQUIRED`.
   *
   * @param {{ sign_in_token: string, factor_id: string, device_token?: string }} step
   * @param {CallOptions} [options]
   * @returns {Promise<SentCode>}
   */
  sendSecondFactorCode(step, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: "/v1/auth/second-factor/code", body: step, isUnrepeatable: true,
    });
  }

  /**
   * The second factors of the account, and its recovery codes.
   *
   * @param {CallOptions} [options]
   * @returns {Promise<{ factors: Factor[] }>}
   */
  factors(options = {}) {
    return this.#call({ method: "GET", path: "/v1/account/factors" }, options);
  }

  /**
   * Makes a secret for an authenticator app, or sends a code to a phone.
   *
   * @param {{ type: "totp" | "phone", issuer?: string, account_name?: string, phone?: string }} factor
   * @param {CallOptions} [options]
   * @returns {Promise<Enrolment>}
   */
  beginFactor(factor, options = {}) {
    return this.#call({
      method: "POST", path: "/v1/account/factor-enrolments", body: factor, isUnrepeatable: true,
    }, options);
  }

  /**
   * Begins a passkey as a second factor, which `enrolFactor` finishes with the JSON of `navigator.credentials.create`.
   *
   * @param {{ user_name?: string, display_name?: string }} [names]
   * @param {CallOptions} [options]
   * @returns {Promise<PasskeyOptions>}
   */
  beginPasskeyFactor(names = {}, options = {}) {
    return this.#call({ method: "POST", path: "/v1/account/factor-enrolments/passkey", body: names }, options);
  }

  /**
   * Begins the second step of a sign-in with a passkey, which `finishSignIn` ends with the JSON of
   * `navigator.credentials.get`.
   *
   * @param {{ sign_in_token: string, factor_id: string }} step
   * @param {CallOptions} [options]
   * @returns {Promise<PasskeyOptions>}
   */
  beginPasskeySecondStep(step, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: "/v1/auth/second-factor/passkey", body: step,
    });
  }

  /**
   * Enrols the factor with its first code or the browser's response. The first factor ends all sessions and opens a new one here.
   *
   * @param {{ enrolment_token?: string, challenge_id?: string, code?: string, credential?: Record<string, any> }} confirmation
   * @param {CallOptions} [options]
   * @returns {Promise<EnrolledFactor>}
   */
  async enrolFactor(confirmation, options = {}) {
    const { factor_id, recovery_codes, session } = await this.#call({
      method: "POST", path: "/v1/account/factors", body: confirmation, isUnrepeatable: true,
    }, options);
    if (session) await this.#continued(session);
    return { factor_id, ...(recovery_codes && { recovery_codes }) };
  }

  /**
   * Removes a second factor; the recovery codes go with the last one.
   *
   * @param {string} factorId
   * @param {CallOptions} [options]
   * @returns {Promise<{ factors: Factor[] }>}
   */
  removeFactor(factorId, options = {}) {
    return this.#call({
      method: "DELETE", path: `/v1/account/factors/${segment(factorId)}`, isUnrepeatable: true,
    }, options);
  }

  /**
   * Stops the removal of a second factor that support planned.
   *
   * @param {string} factorId
   * @param {CallOptions} [options]
   * @returns {Promise<{ factors: Factor[] }>}
   */
  keepFactor(factorId, options = {}) {
    return this.#call({
      method: "POST", path: `/v1/account/factors/${segment(factorId)}/keep`, body: {}, isUnrepeatable: true,
    }, options);
  }

  /**
   * Replaces the recovery codes.
   *
   * @param {CallOptions} [options]
   * @returns {Promise<{ recovery_codes: string[] }>}
   */
  renewRecoveryCodes(options = {}) {
    return this.#call({
      method: "POST", path: "/v1/account/recovery-codes", body: {}, isUnrepeatable: true,
    }, options);
  }

  /**
   * Stores the session of an answer.
   *
   * @param {any} answer
   * @returns {Promise<SignedIn>}
   */
  async #opened(answer) {
    await this.#change(() => this.#save(sessionOf(answer)));
    return this.#result(answer);
  }

  /**
   * Stores the session that a change of an account opened, unless another account has signed in meanwhile.
   *
   * @param {any} session
   */
  #continued(session) {
    return this.#change(async () => {
      const stored = await this.#load().catch(() => null);
      if (!stored || stored.user_id === session.user_id) await this.#save(sessionOf(session));
    });
  }

  /**
   * The result of a sign-in, or of a change that opened a session.
   *
   * @param {any} answer
   * @returns {SignedIn}
   */
  #result(answer) {
    const { user_id, is_new_user, linked_providers, anonymous_secret, device_token, challenge_id } = answer;
    return {
      user_id, is_new_user, linked_providers, ...(anonymous_secret && { anonymous_secret }),
      ...(device_token && { device_token }), ...(challenge_id && { challenge_id }),
    };
  }

  /**
   * Sends a code to sign in with. Not repeated, because each repetition would send another message.
   *
   * @param {string} provider  One of type `email` or `phone`; or of type `password`, for a code that `signIn` sends with
   *   the password after a refusal whose `details.needs` is `code`.
   * @param {{ address: string, device_token?: string }} to
   * @param {CallOptions} [options]
   * @returns {Promise<SentCode>}
   */
  sendCode(provider, to, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/codes/${segment(provider)}`, body: to, isUnrepeatable: true,
    });
  }

  /**
   * Sends a code to link an address with; with `plan_digest`, to agree to a merge; with `change`, for `changeAddress`.
   *
   * @param {string} provider  One of type `email` or `phone`; for a link or a change also `password`.
   * @param {{ address: string, plan_digest?: string, change?: boolean }} to
   * @param {CallOptions} [options]
   * @returns {Promise<SentCode>}
   */
  sendAccountCode(provider, to, options = {}) {
    return this.#call({
      method: "POST", path: `/v1/account/codes/${segment(provider)}`, body: to, isUnrepeatable: true,
    }, options);
  }

  /**
   * Begins a sign-up with a password, which `signIn` finishes with the code that is sent. A tenant may open the account
   * at once; then the code confirms the address.
   *
   * @param {string} provider  One of type `password`.
   * @param {{ email: string, password: string }} credential
   * @param {CallOptions} [options]
   * @returns {Promise<SentCode | SignedIn>}
   */
  async beginSignUp(provider, credential, options = {}) {
    const answer = await this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/sign-up/${segment(provider)}`, body: credential,
      isUnrepeatable: true,
    });
    return answer.access_token ? this.#opened(answer) : answer;
  }

  /**
   * Sends the code of a password's reset, for `completePasswordReset`.
   *
   * @param {string} provider  One of type `password`.
   * @param {{ email: string, device_token?: string }} to
   * @param {CallOptions} [options]
   * @returns {Promise<SentCode>}
   */
  beginPasswordReset(provider, to, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/password-resets/${segment(provider)}`, body: to,
      isUnrepeatable: true,
    });
  }

  /**
   * Replaces a forgotten password, which ends all sessions and opens none.
   *
   * @param {string} provider  One of type `password`.
   * @param {{ challenge_id: string, code: string, password: string, device_token?: string }} completion
   * @param {CallOptions} [options]
   * @returns {Promise<{ linked_providers: string[], device_token?: string }>}
   */
  completePasswordReset(provider, completion, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/password-resets/${segment(provider)}/complete`,
      body: completion, isUnrepeatable: true,
    });
  }

  /**
   * Replaces the password, which ends all sessions and opens a new one.
   *
   * @param {{ password: string, email?: string, current_password?: string, device_token?: string }} change
   * @param {CallOptions} [options]
   * @returns {Promise<SignedIn>}
   */
  async changePassword(change, options = {}) {
    const answer = await this.#call({
      method: "POST", path: "/v1/account/password", body: change, isUnrepeatable: true,
    }, options);
    await this.#continued(answer);
    return this.#result(answer);
  }

  /**
   * Replaces an address by the one that the code was sent to, which ends all sessions and opens a new one.
   *
   * @param {string} provider  One of type `email`, `phone` or `password`.
   * @param {{ current_address: string, challenge_id: string, code: string, current_password?: string, email?: string, device_token?: string }} change
   * @param {CallOptions} [options]
   * @returns {Promise<SignedIn>}
   */
  async changeAddress(provider, change, options = {}) {
    const answer = await this.#call({
      method: "POST", path: `/v1/account/addresses/${segment(provider)}`, body: change,
      isUnrepeatable: true,
    }, options);
    await this.#continued(answer);
    return this.#result(answer);
  }

  /**
   * Sends the code by which a former address is taken back, for `completeAddressReturn`.
   *
   * @param {string} provider  One of type `email`, `phone` or `password`.
   * @param {{ address: string, device_token?: string }} to
   * @param {CallOptions} [options]
   * @returns {Promise<SentCode>}
   */
  beginAddressReturn(provider, to, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/address-returns/${segment(provider)}`, body: to,
      isUnrepeatable: true,
    });
  }

  /**
   * Takes a former address back, which ends all sessions and opens none; for an e-mail address with a new password.
   *
   * @param {string} provider  One of type `email`, `phone` or `password`.
   * @param {{ challenge_id: string, code: string, password?: string, device_token?: string }} completion
   * @param {CallOptions} [options]
   * @returns {Promise<{ linked_providers: string[], device_token?: string }>}
   */
  completeAddressReturn(provider, completion, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/address-returns/${segment(provider)}/complete`,
      body: completion, isUnrepeatable: true,
    });
  }

  /**
   * Begins a sign-up with a passkey, which `signIn` finishes with the JSON of `navigator.credentials.create`.
   *
   * @param {string} provider  One of type `passkey`.
   * @param {{ user_name?: string, display_name?: string }} [names]
   * @param {CallOptions} [options]
   * @returns {Promise<PasskeyOptions>}
   */
  beginPasskeySignUp(provider, names = {}, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/passkeys/${segment(provider)}/create`, body: names,
    });
  }

  /**
   * Begins a sign-in with a passkey, which `signIn` finishes with the JSON of `navigator.credentials.get`.
   *
   * @param {string} provider  One of type `passkey`.
   * @param {CallOptions} [options]
   * @returns {Promise<PasskeyOptions>}
   */
  beginPasskeySignIn(provider, options = {}) {
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: `/v1/auth/passkeys/${segment(provider)}/get`, body: {},
    });
  }

  /**
   * Begins another passkey of the account, which `link` finishes with the JSON of `navigator.credentials.create`.
   *
   * @param {string} provider  One of type `passkey`.
   * @param {{ user_name?: string, display_name?: string }} [names]
   * @param {CallOptions} [options]
   * @returns {Promise<PasskeyOptions>}
   */
  beginPasskeyLink(provider, names = {}, options = {}) {
    return this.#call({
      method: "POST", path: `/v1/account/passkeys/${segment(provider)}/create`, body: names,
    }, options);
  }

  /**
   * Begins the proof of the other account with a passkey: for the preview of a merge or, with `plan_digest`, for the
   * merge. `previewMerge` or `merge` takes the JSON of `navigator.credentials.get`.
   *
   * @param {string} provider  One of type `passkey`.
   * @param {{ plan_digest?: string }} [plan]
   * @param {CallOptions} [options]
   * @returns {Promise<PasskeyOptions>}
   */
  beginPasskeyMerge(provider, plan = {}, options = {}) {
    return this.#call({
      method: "POST", path: `/v1/account/passkeys/${segment(provider)}/get`, body: plan,
    }, options);
  }

  /**
   * Returns the providers that the tenant offers, in the order of their names.
   *
   * @param {CallOptions} [options]
   * @returns {Promise<{ providers: Provider[] }>}
   */
  providers(options = {}) {
    return this.#transport.send(this.#transport.begin(options), { method: "GET", path: "/v1/providers" });
  }

  /**
   * Begins a flow in the browser, which comes back to `return_to` with `flow_code` or `error`. `signIn`, `link`,
   * `previewMerge` or, with `plan_digest`, `merge` takes the code with the verifier of `code_challenge`.
   *
   * @param {FlowStart} flow
   * @param {CallOptions} [options]
   * @returns {Promise<Flow>}
   */
  beginFlow(flow, options = {}) {
    if (flow.purpose !== "sign_in") {
      return this.#call({ method: "POST", path: "/v1/auth/flows", body: flow }, options);
    }
    return this.#transport.send(this.#transport.begin(options), {
      method: "POST", path: "/v1/auth/flows", body: flow,
    });
  }

  /** The id of the account that is signed in, or null; without a request. */
  async userId() {
    return (await this.#load())?.user_id ?? null;
  }

  /**
   * A valid access token, for a backend of the app; renewed if it expires.
   *
   * @param {CallOptions} [options]
   */
  async accessToken(options = {}) {
    return (await this.#session(this.#transport.begin(options))).access_token;
  }

  /**
   * Exchanges the refresh token now; calls do so by themselves.
   *
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async refresh(options = {}) {
    const session = await this.#load();
    if (!session) throw noSession();
    await this.#renewed(this.#transport.begin(options), session);
  }

  /**
   * Ends the session, or with `everywhere` all of the account. The store is cleared in any case, also when the
   * ledger cannot be reached, which is an error; but not of a session that began with a sign-in meanwhile.
   *
   * A session that is over counts as signed out. It ends no others, so that is an error with `everywhere`, unless an
   * answer was lost: then the repetition finds the session over because the first request has ended all of them.
   *
   * @param {{ everywhere?: boolean }} [scope]
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async signOut(scope = {}, options = {}) {
    const session = await this.#load();
    if (!session) return;
    let wasLost = false;
    try {
      await this.#call({
        method: "POST", path: "/v1/auth/sign-out", body: scope, onLost: () => { wasLost = true; },
      }, options, session);
    } catch (error) {
      const codes = ["INVALID_REFRESH_TOKEN", "NO_SESSION"];
      const isOver = error instanceof AccountLedgerError && codes.includes(error.code);
      if (!isOver || (scope.everywhere && !wasLost)) throw error;
    } finally {
      await this.#change(async () => {
        const stored = await this.#load();
        if (stored && isOfOneSignIn(stored, session)) await this.#clear();
      });
    }
  }

  /**
   * @param {CallOptions} [options]
   * @returns {Promise<Account>}
   */
  account(options = {}) {
    return this.#call({ method: "GET", path: "/v1/account" }, options);
  }

  /**
   * Stops the unlink of an identity that support planned.
   *
   * @param {string} identityId
   * @param {CallOptions} [options]
   * @returns {Promise<Account>}
   */
  keepIdentity(identityId, options = {}) {
    return this.#call({
      method: "POST", path: `/v1/account/identities/${segment(identityId)}/keep`, body: {}, isUnrepeatable: true,
    }, options);
  }

  /**
   * Names a passkey, in place of a former name.
   *
   * @param {string} identityId
   * @param {{ name: string }} named
   * @param {CallOptions} [options]
   * @returns {Promise<Account>}
   */
  nameIdentity(identityId, { name }, options = {}) {
    return this.#call({ method: "PUT", path: `/v1/account/identities/${segment(identityId)}/name`, body: { name } }, options);
  }

  /**
   * The recent activity of the account, newest first; `before` is `next` of the previous page.
   *
   * @param {{ before?: string, limit?: number }} [page]
   * @param {CallOptions} [options]
   * @returns {Promise<Activities>}
   */
  activity(page = {}, options = {}) {
    const pairs = Object.entries(page).filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]);
    const query = pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
    return this.#call({ method: "GET", path: `/v1/account/activity${query}` }, options);
  }

  /**
   * Adds an identity to the account. 409 `PROVIDER_CONFLICT` if it belongs to another account, is linked already,
   * or the account has one of the provider.
   *
   * @param {string} provider
   * @param {Proof} proof
   * @param {CallOptions & CommandOptions} [options]
   * @returns {Promise<LinkedProviders>}
   */
  async link(provider, proof, options = {}) {
    return this.#call(command("POST", `/v1/auth/link/${segment(provider)}`, options, proof), options);
  }

  /**
   * Removes an identity from the account; `identity_id` names one of several of the provider. Without it and with
   * several, the refusal is `INVALID_REQUEST`, and its `details.identity_ids` lists them.
   *
   * @param {string} provider
   * @param {{ identity_id?: string }} [identity]
   * @param {CallOptions & CommandOptions} [options]
   * @returns {Promise<LinkedProviders>}
   */
  async unlink(provider, identity = {}, options = {}) {
    const { identity_id } = identity;
    const query = identity_id === undefined ? "" : `?identity_id=${segment(identity_id)}`;
    return this.#call(command("DELETE", `/v1/auth/link/${segment(provider)}${query}`, options), options);
  }

  /**
   * What a merge of another account into this one would do. Changes nothing. The proof is that of an identity or, for
   * an account with a second factor, an access token: `accessToken()` of a client that has just signed in to it.
   *
   * @param {((Proof & { provider: string }) | { other_access_token: string }) & { keep?: Keep }} proof
   * @param {CallOptions} [options]
   * @returns {Promise<MergePlan>}
   */
  previewMerge(proof, options = {}) {
    return this.#call({ method: "POST", path: "/v1/account/merge/preview", body: proof }, options);
  }

  /**
   * Merges another account into this one, as the preview showed it. A proof of an identity must be newer than the
   * preview: the nonce of an ID token is the `plan_digest`. An `other_access_token` may be that of the preview.
   *
   * With its first second factor all sessions of the account end, this one too: the person signs in again.
   *
   * @param {((({ id_token: string } | { access_token: string } | { anonymous_secret: string } | { challenge_id: string, code: string, device_token?: string } | { challenge_id: string, credential: Record<string, any> } | { email: string, password: string, device_token?: string } | { flow_code: string, code_verifier: string }) & { provider: string }) | { other_access_token: string }) & { plan_digest: string, keep?: Keep }} agreement
   * @param {CallOptions & CommandOptions} [options]
   * @returns {Promise<Merged>}
   */
  async merge(agreement, options = {}) {
    const merged = await this.#call(command("POST", "/v1/account/merge", options, agreement), options);
    const { kept, sessions_end } = /** @type {Merged} */ (merged);
    // The renewal of a session that has ended is refused, and removes it. A repeated merge may find a later one.
    const isEnded = kept.every(({ identity_id }) => sessions_end.opened_by.includes(identity_id));
    if (isEnded) await this.refresh(options).catch(() => {});
    return merged;
  }

  /**
   * @param {Request} request
   * @param {CallOptions} options
   * @param {StoredSession} [only]  The session that it is about, and no other one of the account.
   */
  async #call(request, options, only) {
    const call = this.#transport.begin(options);
    const session = await this.#session(call, only);
    try {
      return await this.#transport.send(call, request, session.access_token);
    } catch (error) {
      if (!(error instanceof AccountLedgerError && error.code === "INVALID_ACCESS_TOKEN")) throw error;
    }
    const { access_token } = await this.#renewed(call, session, only);
    return this.#transport.send(call, request, access_token);
  }

  /**
   * The session with an access token that has not expired.
   *
   * @param {Call} call
   * @param {StoredSession} [only]
   */
  async #session(call, only) {
    // A session that the store did not take is saved as soon as possible.
    if (this.#unsaved) await this.#change(() => this.#saveAgain());
    const session = only ?? await this.#load();
    if (!session) throw noSession();
    return Date.now() < session.expires_at - EXPIRY_MARGIN_MS ? session : this.#renewed(call, session, only);
  }

  /**
   * The session after a renewal, which all calls share. It goes on when one of them is aborted, because the former
   * refresh token may be used up.
   *
   * @param {Call} call
   * @param {StoredSession} stale
   * @param {StoredSession} [only]
   */
  async #renewed(call, stale, only) {
    if (!this.#renewal) {
      const renew = () => this.#renew(stale);
      this.#renewal = ofStore(() => this.#store.exclusively?.(renew) ?? renew()).finally(() => { this.#renewal = null; });
      // Every caller may have been aborted.
      this.#renewal.catch(() => {});
    }
    const renewal = this.#renewal;
    const session = await limited(call, Infinity, () => renewal);
    // Nothing that was asked of one account is done to another.
    if (session.user_id !== stale.user_id || (only && !isOfOneSignIn(session, only))) throw noSession();
    return session;
  }

  /**
   * @param {StoredSession} stale
   * @returns {Promise<StoredSession>}
   */
  async #renew(stale) {
    const stored = await this.#load();
    if (!stored) throw noSession();
    // Another call, or another page with this store, was faster.
    if (stored.access_token !== stale.access_token) return stored;
    let current;
    try {
      const answer = await this.#transport.send(this.#transport.begin({}), {
        method: "POST", path: "/v1/auth/refresh", body: { refresh_token: stored.refresh_token },
        attemptMs: REFRESH_ATTEMPT_MS,
      });
      current = await this.#replace(stored, { ...sessionOf(answer), sign_in_id: stored.sign_in_id });
    } catch (error) {
      if (!(error instanceof AccountLedgerError && error.code === "INVALID_REFRESH_TOKEN")) throw error;
      current = await this.#replace(stored, null);
      if (!current) throw error;
    }
    if (!current) throw noSession();
    return current;
  }

  /**
   * Replaces a stored session, unless a sign-in, a sign-out or another page did so meanwhile, and returns the one
   * that is stored now.
   *
   * @param {StoredSession} former
   * @param {StoredSession | null} next
   */
  #replace(former, next) {
    return this.#change(async () => {
      const stored = await this.#load();
      if (stored?.refresh_token !== former.refresh_token) return stored;
      if (next) await this.#save(next);
      else await this.#clear().catch((error) => this.#report(error));
      return next;
    });
  }

  /** The session that is stored, or the one that the store did not take, unless another page has saved one since. */
  async #load() {
    try {
      const stored = await ofStore(() => this.#store.load());
      if (!this.#unsaved) return stored;
      const { session, replaced = stored?.refresh_token ?? null } = this.#unsaved;
      return replaced === (stored?.refresh_token ?? null) ? session : stored;
    } catch (error) {
      if (this.#unsaved) return this.#unsaved.session;
      throw error;
    }
  }

  /**
   * Saves a session. One that the store does not take is kept here, because no other answer has its tokens.
   *
   * @param {StoredSession} session
   * @param {boolean} [isReported]
   */
  async #save(session, isReported = true) {
    try {
      await ofStore(() => this.#store.save(session));
      this.#unsaved = null;
    } catch (error) {
      /** @type {StoredSession | null | undefined} */
      const stored = await ofStore(() => this.#store.load()).catch(() => undefined);
      this.#unsaved = { session, ...(stored !== undefined && { replaced: stored?.refresh_token ?? null }) };
      if (isReported) this.#report(error);
    }
  }

  /** Saves the session that the store did not take, unless another page has saved one since. */
  async #saveAgain() {
    const session = await this.#load();
    if (session && session === this.#unsaved?.session) await this.#save(session, false);
  }

  async #clear() {
    this.#unsaved = null;
    await ofStore(() => this.#store.clear());
  }

  /**
   * Reports a failure of the store outside of the call, which goes on.
   *
   * @param {any} error
   */
  #report(error) {
    queueMicrotask(() => this.#onStoreError(error));
  }

  /**
   * Changes the store after the changes before, so that none overwrites another one between its load and its save.
   *
   * @template Value
   * @param {() => Value | Promise<Value>} work
   * @returns {Promise<Value>}
   */
  #change(work) {
    const result = this.#lastChange.then(work);
    this.#lastChange = result.catch(() => {});
    return result;
  }
}

/** Merges accounts and undoes merges, with an API key of role `support` or `admin`: for backends and consoles of support. */
export class AccountLedgerSupport {
  #transport;
  #apiKey;

  /** @param {ClientOptions & { apiKey: string }} options */
  constructor({ apiKey, ...options }) {
    this.#transport = new Transport(options);
    this.#apiKey = apiKey;
  }

  /**
   * What a merge of another account, `absorb`, into an account would do, and whether another person's request can be
   * confirmed. The reason is recorded.
   *
   * @param {string} account
   * @param {{ absorb: string, reason: string, keep?: Keep, merge_request?: string }} plan
   * @param {CallOptions} [options]
   * @returns {Promise<SupportMergePlan>}
   */
  async previewMerge(account, { absorb, reason, keep, merge_request }, options = {}) {
    const path = `/v1/accounts/${segment(account)}/merge/preview`;
    const body = { absorb, keep, merge_request, reason };
    return this.#transport.send(this.#transport.begin(options), { method: "POST", path, body }, this.#apiKey);
  }

  /**
   * Merges another account, `absorb`, into an account, as the preview showed it. The reason and the reference of the
   * case are recorded. Where an account has a second factor, it only asks: another person, with another API key,
   * previews and merges with the `merge_request` of the answer.
   *
   * @param {string} account
   * @param {{ absorb: string, plan_digest: string, reason: string, case: string, keep?: Keep, merge_request?: string }} plan
   * @param {CallOptions & CommandOptions} [options]
   * @returns {Promise<Merged | MergeRequest>}
   */
  async mergeAccounts(account, { absorb, plan_digest, reason, case: reference, keep, merge_request }, options = {}) {
    const body = { absorb, case: reference, keep, merge_request, plan_digest, reason };
    const request = command("POST", `/v1/accounts/${segment(account)}/merge`, options, body);
    return this.#transport.send(this.#transport.begin(options), request, this.#apiKey);
  }

  /**
   * What undoing a merge would do, and whether another person's request can be confirmed. The reason is recorded.
   *
   * @param {string} merge
   * @param {{ reason: string, undo_request?: string }} why
   * @param {CallOptions} [options]
   * @returns {Promise<UndoPlan>}
   */
  async previewUndo(merge, { reason, undo_request }, options = {}) {
    const path = `/v1/merges/${segment(merge)}/undo/preview`;
    return this.#transport.send(this.#transport.begin(options), { method: "POST", path, body: { reason, undo_request } }, this.#apiKey);
  }

  /**
   * Undoes a merge. The reason and the reference of the case are recorded. Where the account that stayed has a second
   * factor, it only asks: another person, with another API key, undoes the merge with the `undo_request` of the answer.
   *
   * @param {string} merge
   * @param {{ reason: string, case: string, undo_request?: string }} why
   * @param {CallOptions & CommandOptions} [options]
   * @returns {Promise<Undone | UndoRequest>}
   */
  async undoMerge(merge, { reason, case: reference, undo_request }, options = {}) {
    const body = { case: reference, reason, undo_request };
    const request = command("POST", `/v1/merges/${segment(merge)}/undo`, options, body);
    return this.#transport.send(this.#transport.begin(options), request, this.#apiKey);
  }
}

/** @returns {SessionStore} */
function memoryStore() {
  /** @type {StoredSession | null} */
  let kept = null;
  return { load: () => kept, save: (session) => { kept = session; }, clear: () => { kept = null; } };
}

/**
 * A request with an idempotency key, so that it acts once even if it is sent twice.
 *
 * @param {"POST" | "DELETE"} method
 * @param {string} path
 * @param {CommandOptions} options
 * @param {object} [body]
 * @returns {Request}
 */
function command(method, path, { idempotencyKey = uuid() }, body) {
  return { method, path, body, headers: { "Idempotency-Key": idempotencyKey } };
}

/**
 * @param {Call} call
 * @param {Request} request
 * @param {string} [token]
 * @returns {RequestInit}
 */
function requestInit(call, { method, headers = {}, body }, token) {
  const text = body && JSON.stringify(body);
  const fields = new Headers({ "X-Request-Id": call.requestId });
  try {
    for (const [name, value] of Object.entries(headers)) fields.set(name, value);
    if (text) fields.set("Content-Type", "application/json");
    if (token !== undefined) fields.set("Authorization", `Bearer ${token}`);
  } catch {
    // The platform's error repeats the value, which may be a token.
    throw new AccountLedgerError({
      code: "INVALID_REQUEST", message: "A header field has characters that HTTP does not allow", requestId: call.requestId,
    });
  }
  return {
    method, headers: fields, body: text, cache: "no-store", credentials: "omit", redirect: "error",
    referrerPolicy: "no-referrer",
  };
}

/**
 * Runs work until it ends, the caller aborts, or its time or that of the call is over.
 *
 * @template Value
 * @param {Call} call
 * @param {number} milliseconds
 * @param {(signal: AbortSignal) => Promise<Value>} work
 * @returns {Promise<Value>}
 */
async function limited(call, milliseconds, work) {
  const { signal, deadline } = call;
  if (signal?.aborted) throw unanswered(call);
  const controller = new AbortController();
  const stop = () => controller.abort();
  /** @type {Promise<never>} */
  const stopped = new Promise((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(unanswered(call)));
  });
  const timer = setTimeout(stop, Math.min(milliseconds, deadline - performance.now(), TIMER_MS_MAX));
  signal?.addEventListener("abort", stop);
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * @param {Call} call
 * @param {unknown} [cause]
 */
function unanswered({ signal, requestId }, cause) {
  return signal?.aborted
    ? new AccountLedgerError({ code: "ABORTED", message: "The call was aborted", requestId, cause: signal.reason })
    : new AccountLedgerError({ code: "NO_ANSWER", message: "The ledger did not answer", requestId, cause });
}

/**
 * @param {Call} call
 * @param {number} milliseconds
 */
function pause(call, milliseconds) {
  return limited(call, Infinity, (signal) => new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => clearTimeout(timer));
  }));
}

/** @param {{ user_id: string, access_token: string, refresh_token: string, expires_in: number }} answer */
function sessionOf({ user_id, access_token, refresh_token, expires_in }) {
  return { user_id, access_token, refresh_token, expires_at: Date.now() + expires_in * 1_000, sign_in_id: uuid() };
}

/**
 * @param {StoredSession} one
 * @param {StoredSession} other
 */
function isOfOneSignIn(one, other) {
  return one.user_id === other.user_id && one.sign_in_id === other.sign_in_id;
}

/**
 * Runs work of the store, whose errors become those of the client.
 *
 * @template Value
 * @param {() => Value | Promise<Value>} work
 * @returns {Promise<Value>}
 */
async function ofStore(work) {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof AccountLedgerError) throw cause;
    throw new AccountLedgerError({ code: "STORE_FAILED", message: "The store of the session failed", cause });
  }
}

function noSession() {
  return new AccountLedgerError({ code: "NO_SESSION", message: "Nobody is signed in, or the session has ended" });
}

/** @param {string} text */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/**
 * The seconds of `Retry-After`, which proxies may send as a date.
 *
 * @param {Headers} headers
 */
function retryAfter(headers) {
  const value = headers.get("Retry-After");
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/**
 * One segment of a path; "." and ".." are steps in it, however they are encoded.
 *
 * @param {string} text
 */
function segment(text) {
  if (text === "." || text === "..") {
    throw new AccountLedgerError({ code: "INVALID_REQUEST", message: "No name or id is . or .." });
  }
  return encodeURIComponent(text);
}

/** A random UUID. `crypto.randomUUID` exists on HTTPS pages only. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
