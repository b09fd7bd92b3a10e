// The page of linked accounts: its state, its views and its messages. A view is made anew of the last answers.

import { el } from "../lib/el.mjs";
import { Api, Refused } from "../lib/api.mjs";

/** The number of the view. */
let views = 0;

/** The end of an action whose view the person has left: nothing is shown of it. */
export class Left extends Error {}

class PageApi extends Api {
  /**
   * Sends a request, whose answer counts in the view that it began in alone; of a change, a success counts in any.
   *
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {{isRepeatable?: boolean, isChange?: boolean, headers?: Record<string, string>}} options
   */
  call(method, path, body = undefined, options = {}) {
    return here(super.call(method, path, body, options), options.isChange);
  }
}

/** Waits for what the view needs; once the view was left, this ends the action, unless a change was done. */
async function here(promise, isChange = false) {
  const view = views;
  let isDone = false;
  try {
    const value = await promise;
    isDone = isChange;
    return value;
  } finally {
    if (view !== views && !isDone) throw new Left();
  }
}

/** The state that all modules share. */
export const page = {
  api: new PageApi(),
  /** @type {any} the texts of the language */
  t: {},
  language: "en",
  /** @type {{name: string, display_name: string, type: string, has_flow: boolean}[]} */
  providers: [],
  /** @type {{user_id: string, identities: any[]} | null} */
  account: null,
  /** @type {any[]} */
  factors: [],
};

/** @param {string} id */
const byID = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Says that something was done; stays until the next action. */
export function say(text) {
  byID("alert").replaceChildren();
  byID("status").replaceChildren(text);
}

/** Says that something was refused, with a way on; announced at once. */
export function warn(title, ...more) {
  byID("status").replaceChildren();
  byID("alert").replaceChildren(el("p", {}, el("strong", {}, title)), ...more.filter(Boolean));
  // What had the focus is gone, as the button of another try.
  if (document.activeElement === document.body) byID("alert").focus();
}

/** Removes the messages of the last action. */
export function hush() {
  byID("status").replaceChildren();
  byID("alert").replaceChildren();
}

/** Shows a view, whose heading gets the focus. */
export function show(title, ...content) {
  const heading = el("h1", { tabindex: -1 }, title);
  const main = byID("main");
  views += 1;
  if ([page.t.loading, page.t.waiting].includes(byID("status").textContent)) byID("status").replaceChildren();
  main.replaceChildren(heading, ...content.filter(Boolean));
  main.setAttribute("aria-busy", "false");
  document.title = title;
  heading.focus();
}

/** Shows that an answer is awaited. */
export function showLoading() {
  byID("main").setAttribute("aria-busy", "true");
  byID("status").replaceChildren(page.t.loading);
}

/** A button for an action; it is off while the action runs. */
export function button(text, action, properties = {}) {
  return el("button", {
    type: "button", ...properties,
    onclick: (/** @type {Event} */ event) => run(/** @type {HTMLElement} */ (event.currentTarget), action),
  }, text);
}

/** Runs an action of a button, and shows its failure with another try. */
export async function run(target, action) {
  if (target?.getAttribute("aria-disabled") === "true") return;
  target?.setAttribute("aria-disabled", "true");
  hush();
  try {
    await action();
  } catch (error) {
    explain(error, () => run(target, action));
  } finally {
    target?.removeAttribute("aria-disabled");
  }
}

/** Shows the reason of a failure. */
export function explain(error, again) {
  if (error instanceof Left) return;
  const { t } = page;
  if (!(error instanceof Refused)) {
    // A fault of the page itself, or a module that did not arrive.
    warn(t.failed, again && el("p", {}, button(t.tryAgain, again)));
    console.error(error);
    return;
  }
  if (error.code === "INVALID_ACCESS_TOKEN") {
    onSessionEnd();
    return;
  }
  if (error.code === "ADDRESS_UNUSED") sessionStorage.setItem(unusedKey, "yes");
  if (error.code === "RATE_LIMITED") {
    const time = new Date(Date.now() + error.retryAfter * 1000);
    warn(t.tooManyTries(clock(time, error.retryAfter)));
    return;
  }
  const text = error.code === "WEAK_PASSWORD" ? weakPassword(error) : t.errors[error.code] ?? t[error.code];
  if (text) {
    warn(text);
    return;
  }
  warn(
    error.code === "NETWORK" ? t.noConnection : t.failed,
    error.requestId && el("p", { class: "quiet" }, t.requestID(error.requestId)),
    again && el("p", {}, button(t.tryAgain, again)),
  );
}

/** Shows in place of the account that it cannot be read; another try does that, and repeats nothing else. */
export function showUnread(error, again) {
  const { t } = page;
  show(t.title, el("p", {}, error.code === "NETWORK" ? t.noConnection : t.failed), el("p", {}, button(t.tryAgain, again)));
  if (!(error instanceof Refused)) console.error(error);
}

function weakPassword(error) {
  const { t } = page;
  return error.details.length_min ? t.passwordTooShort(error.details.length_min) : t.passwordTooCommon;
}

/** Called when the session has ended; the module of sign-ins sets it. */
let onSessionEnd = () => {};

/** @param {() => void} action */
export function whenSessionEnds(action) {
  onSessionEnd = action;
}

/** A time of day, with the date when it is not within a day. */
export function clock(time, seconds) {
  const style = seconds > 43_200 ? /** @type {const} */ ({ dateStyle: "medium", timeStyle: "short" })
    : /** @type {const} */ ({ timeStyle: "short" });
  return new Intl.DateTimeFormat(page.language, style).format(time);
}

/** The day of a time, or "today". */
export function day(text) {
  const date = new Date(text);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? page.t.today : new Intl.DateTimeFormat(page.language, { dateStyle: "medium" }).format(date);
}

/** The provider of a name; one that has left the configuration is shown by its name. */
export function provider(name) {
  return page.providers.find((each) => each.name === name)
    ?? { name, display_name: name, type: "oidc", has_flow: false };
}

/**
 * Waits for a module that the first view does without, and for the texts of all such modules.
 *
 * @template Module
 * @param {Promise<Module>} module
 */
export async function later(module) {
  const [loaded, { texts }] = await here(Promise.all([module, import(`../texts/${page.language}-more.mjs`)]));
  Object.assign(page.t, texts);
  return loaded;
}

/** The name of a provider as people know it. */
export function nameOf(name) {
  const { type, display_name: displayName } = provider(name);
  return page.t.kinds[type] ?? displayName;
}

/** The providers of a type. */
export const ofType = (type) => page.providers.filter((each) => each.type === type);

/** Whether a provider is at another site, which the browser visits. */
export const isExternal = ({ type, has_flow: hasFlow }) => hasFlow && (type === "oidc" || type === "oauth2");

/** Whether a way to sign in is the service's own, and no account at another one. */
export const isOwn = (name) => provider(name).type in page.t.kinds;

const leavingMilliseconds = 10_000;

/** Leads to a provider, and with its answer back to this page. */
export async function visit(name, purpose, planDigest) {
  const body = { provider: name, purpose, ...(planDigest && { plan_digest: planDigest }) };
  const { authorize_url: address } = await page.api.call("POST", "account/flows", body);
  location.assign(address);
  // The page stays as it is until the browser has left it, or could not.
  await new Promise((resolve) => setTimeout(resolve, leavingMilliseconds));
}

/** The key of the tab's note that the code of an unused number was refused. */
export const unusedKey = "account-unused";

const intentKey = "account-intent";

/** Keeps what a person has asked for while they sign in again: never a secret. */
export function keepIntent(intent) {
  sessionStorage.setItem(intentKey, JSON.stringify({ ...intent, user: page.api.session.user_id }));
}

/** What was asked for and goes on after a sign-in; null without it. */
export const readIntent = () => JSON.parse(sessionStorage.getItem(intentKey) ?? "null");

/** Returns what was asked for, and forgets it. */
export function takeIntent() {
  const intent = readIntent();
  sessionStorage.removeItem(intentKey);
  return intent;
}

/** Whether something was asked for that goes on after a sign-in. */
export const hasIntent = () => readIntent() !== null;
