// The account of a person who is signed in: the ways to sign in, and what becomes of them.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import {
  button, day, explain, isExternal, isOwn, nameOf, page, provider, say, show, visit,
} from "./page.mjs";
import { askAgain, showSignIn } from "./sign-in.mjs";

/** Reads the account anew, and shows it. */
export async function showAccount() {
  const { api, t } = page;
  const [account, { factors }] = await Promise.all([
    api.call("GET", "v1/account"), api.call("GET", "v1/account/factors"),
  ]);
  page.account = account;
  page.factors = factors;
  const back = api.session.return_to;
  show(
    t.title,
    el("div", { class: "actions top" },
      back && el("a", { href: back, rel: "noreferrer" }, t.backToApp),
      button(t.signOut, () => signOut(false))),
    el("ul", { class: "methods", "aria-label": t.title }, ...account.identities.map(row)),
    el("div", { class: "actions", role: "group", "aria-label": t.addTitle }, ...additions()),
    securitySection(),
    el("section", { "aria-labelledby": "sessions" },
      el("h2", { id: "sessions" }, t.sessions), el("p", { class: "quiet" }, t.everywhereHint),
      button(t.signOutEverywhere, () => signOut(true))),
  );
}

/** The row of a way to sign in. */
function row(identity) {
  const { t, account } = page;
  const name = nameOf(identity.provider);
  const id = `method-${identity.identity_id}`;
  const isLast = account?.identities.length === 1;
  const text = isOwn(identity.provider) ? t.removeFactor(name) : t.unlink(name);
  const unlinking = isLast
    ? el("button", { type: "button", "aria-disabled": "true", "aria-describedby": `${id}-why` }, text)
    : button(text, () => askToUnlink(identity), { "aria-describedby": id });
  return el("li", {},
    el("span", { class: "letter", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? ""),
    el("div", { class: "what", id },
      el("strong", {}, name),
      identity.email && el("span", { class: "email" }, identity.email),
      el("span", { class: "quiet" }, t.linkedOn(day(identity.linked_at)))),
    unlinking,
    isLast && el("p", { class: "quiet why", id: `${id}-why` }, t.onlyMethod));
}

/** The buttons for what can be added: only what the tenant offers and the account lacks. */
function additions() {
  const { t, account, api } = page;
  const has = new Set(account?.identities.map((each) => each.provider));
  const buttons = [];
  for (const each of page.providers) {
    const isLinked = has.has(each.name);
    const name = nameOf(each.name);
    if (isExternal(each) && (!isLinked || api.session.several_per_provider)) {
      buttons.push(button(t.link(name), () => visit(each.name, "link")));
    } else if (["email", "phone", "password"].includes(each.type) && !isLinked) {
      buttons.push(button(t.add[each.type], async () => (await security()).showAddition(each)));
    } else if (each.type === "passkey" && globalThis.PublicKeyCredential) {
      buttons.push(button(t.add.passkey, async () => (await security()).addPasskey(each)));
    }
  }
  return buttons;
}

/** The module of passwords, passkeys and second factors, which the first view does without. */
const security = () => import("./security.mjs");

/** The password and the second factors. */
function securitySection() {
  const { t, account, factors } = page;
  const password = account?.identities.find((each) => provider(each.provider).type === "password");
  return el("section", { "aria-labelledby": "security" },
    el("h2", { id: "security" }, t.security),
    password && el("p", {}, button(t.changePassword, async () => (await security()).showPasswordChange(password))),
    el("h3", {}, t.secondFactors),
    factors.length === 0 && el("p", { class: "quiet" }, t.noFactors),
    factors.length > 0 && el("ul", { class: "methods", "aria-label": t.secondFactors }, ...factors.map(factorRow)),
    el("div", { class: "actions" }, button(t.addFactor, async () => (await security()).showEnrolment()),
      factors.length > 0 && button(t.newRecoveryCodes, async () => (await security()).renewRecoveryCodes())));
}

function factorRow(factor) {
  const { t } = page;
  const name = factor.hint ? t.phoneFactor(factor.hint) : t.factors[factor.type];
  const isRemovable = factor.type !== "recovery_codes";
  return el("li", {},
    el("div", { class: "what" },
      el("strong", {}, name),
      factor.codes_left !== undefined && el("span", { class: "quiet" }, t.codesLeft(factor.codes_left)),
      factor.enrolled_at && isRemovable && el("span", { class: "quiet" }, t.addedOn(day(factor.enrolled_at))),
      factor.removal_due && el("span", { class: "warning" }, t.removalDue(day(factor.removal_due)))),
    factor.removal_due && button(t.keepFactor, async () => (await security()).keepFactor(factor)),
    isRemovable && button(t.removeFactor(name), async () => (await security()).removeFactor(factor, name)));
}

async function askToUnlink(identity) {
  const { t } = page;
  const name = nameOf(identity.provider);
  const { ask } = await import("../lib/dialog.mjs");
  const isAgreed = await ask({
    title: isOwn(identity.provider) ? t.removeFactorTitle(name) : t.unlinkTitle(name),
    texts: [identity.email ? t.unlinkEnds(name, identity.email) : t.unlinkEnds(name), t.unlinkSessions(name)],
    confirm: isOwn(identity.provider) ? t.remove : t.unlinkConfirm, cancel: t.cancel,
  });
  if (isAgreed) await unlink(identity.provider, identity.identity_id);
}

async function unlink(name, id) {
  const { t, api } = page;
  const done = isOwn(name) ? t.removed(nameOf(name)) : t.unlinked(nameOf(name));
  try {
    await api.call("DELETE", `v1/auth/link/${name}?${new URLSearchParams({ identity_id: id })}`, undefined,
      { isRepeatable: true });
  } catch (error) {
    if (!(error instanceof Refused && error.code === "REAUTHENTICATION_REQUIRED")) throw error;
    await askAgain({ action: "unlink", provider: name, identity: id });
    return;
  }
  await showAccountAfter(done);
}

/** Shows the account after a change that may have ended the session, which began with what is no longer linked. */
export async function showAccountAfter(text) {
  try {
    await showAccount();
  } catch (error) {
    if (!(error instanceof Refused && error.code === "INVALID_ACCESS_TOKEN")) throw error;
    page.account = null;
    showSignIn();
  }
  say(text);
}

/** The module of combining two accounts. */
export const combining = () => import("./combine.mjs");

async function signOut(everywhere) {
  const { t, api } = page;
  await api.call("POST", "account/sign-out", { everywhere });
  page.account = null;
  await api.begin();
  showSignIn();
  say(everywhere ? t.signedOutEverywhere : t.signedOut);
}

/** Goes on with what was asked for before a sign-in, or a way to a provider. */
export async function resume(intent) {
  const { t } = page;
  await showAccount();
  try {
    switch (intent.action) {
      case "link": return await visit(intent.provider, "link");
      case "unlink": return await unlink(intent.provider, intent.identity);
      case "merge": return await (await combining()).goOn(intent);
      case "add": return await (await security()).showAddition(provider(intent.provider));
      case "addPasskey": return await (await security()).addPasskey(provider(intent.provider));
      case "password": {
        const identity = page.account?.identities.find((each) => each.provider === intent.provider);
        return (await security()).showPasswordChange(identity);
      }
      case "enrol": return await (await security()).showEnrolment();
      case "removeFactor": return await (await security()).removeFactorNow(intent.factor);
      case "renewRecoveryCodes": return await (await security()).renewRecoveryCodes();
      default: return say(t.signedIn);
    }
  } catch (error) {
    explain(error);
  }
}
