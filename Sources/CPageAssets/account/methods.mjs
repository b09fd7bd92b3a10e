// The account of a person who is signed in: the ways to sign in, and what becomes of them.

import { el } from "../lib/el.mjs";
import {
  button, day, isExternal, isOwn, later, nameOf, page, provider, say, show, unusedKey, visit,
} from "./page.mjs";
import { showSignIn } from "./sign-in.mjs";

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
      el("div", { class: "actions" }, button(t.signOutEverywhere, () => signOut(true)),
        button(t.activity, async () => (await activity()).showActivity()))),
  );
}

/** The row of a way to sign in. */
function row(identity) {
  const { t, account } = page;
  const kind = nameOf(identity.provider);
  const name = identity.name ?? kind;
  const id = `method-${identity.identity_id}`;
  const isLast = account?.identities.length === 1;
  const text = isOwn(identity.provider) ? t.removeFactor(name) : t.unlink(name);
  const unlinking = isLast
    ? el("button", { type: "button", "aria-disabled": "true", "aria-describedby": `${id}-why` }, text)
    : button(text, async () => (await changes()).askToUnlink(identity), { "aria-describedby": id });
  return el("li", {},
    el("span", { class: "letter", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? ""),
    el("div", { class: "what", id },
      el("strong", {}, name),
      identity.name && el("span", { class: "quiet" }, kind),
      identity.email && el("span", { class: "email" }, identity.email),
      el("span", { class: "quiet" }, t.linkedOn(day(identity.linked_at))),
      identity.unlink_due && el("span", { class: "warning" }, t.unlinkDue(day(identity.unlink_due)))),
    changing(identity, id),
    confirming(identity, id),
    identity.unlink_due && button(t.keep, async () => (await changes()).keepIdentity(identity), { "aria-describedby": id }),
    unlinking,
    isLast && el("p", { class: "quiet why", id: `${id}-why` }, t.onlyMethod));
}

/** The button that changes an address; a password changes with the e-mail address that it has in common. */
function changing(identity, id) {
  const { account, t } = page;
  const { type } = provider(identity.provider);
  const isShared = type === "password" && account?.identities.some((each) =>
    each.email === identity.email && provider(each.provider).type === "email");
  const text = isShared ? null : t.changeAddress[type];
  return text && button(text, async () => (await addresses()).showAddressChange(identity), { "aria-describedby": id });
}

/** The button that confirms a number again, once its code was refused. */
function confirming(identity, id) {
  const each = provider(identity.provider);
  return each.type === "phone" && sessionStorage.getItem(unusedKey)
    && button(page.t.confirmAgain, async () => (await security()).showAddition(each, identity.identity_id), { "aria-describedby": id });
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
export const security = () => later(import("./security.mjs"));

/** The module of unlinking, and of what goes on after a sign-in. */
export const changes = () => later(import("./changes.mjs"));

/** The module of changes of an address. */
export const addresses = () => later(import("./addresses.mjs"));

/** The module of recent activity. */
const activity = () => later(import("./activity.mjs"));

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
  const id = `factor-${factor.factor_id}`;
  return el("li", {},
    el("div", { class: "what", id },
      el("strong", {}, name),
      factor.codes_left !== undefined && el("span", { class: "quiet" }, t.codesLeft(factor.codes_left)),
      factor.enrolled_at && isRemovable && el("span", { class: "quiet" }, t.addedOn(day(factor.enrolled_at))),
      factor.removal_due && el("span", { class: "warning" }, t.removalDue(day(factor.removal_due)))),
    factor.removal_due && button(t.keep, async () => (await security()).keepFactor(factor), { "aria-describedby": id }),
    isRemovable && button(t.removeFactor(name), async () => (await security()).removeFactor(factor, name)));
}

/** The module of combining two accounts. */
export const combining = () => later(import("./combine.mjs"));

async function signOut(everywhere) {
  const { t, api } = page;
  await api.call("POST", "account/sign-out", { everywhere }, { isChange: true });
  page.account = null;
  api.session = {};
  // A failure is repaired by the next request.
  await api.begin().catch(() => {});
  showSignIn();
  say(everywhere ? t.signedOutEverywhere : t.signedOut);
}
