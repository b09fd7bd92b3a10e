// Signing in and up, with every way that the tenant offers.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import {
  button, hasIntent, isExternal, keepIntent, later, nameOf, page, say, show, takeIntent, visit, warn,
} from "./page.mjs";
import { changes, showAccount } from "./methods.mjs";

/** The forms, which the first view does without. */
const forms = () => later(import("./forms.mjs"));

/** Whether the person signs in again to go on with something; then no account is opened. */
export let isAgain = false;

/** Shows the ways to sign in to a person who is signed out. */
export function showSignIn() {
  const { t } = page;
  isAgain = false;
  takeIntent();
  const offered = page.providers.filter(({ type }) => type !== "anonymous");
  show(
    t.signIn,
    el("p", { class: "quiet" }, t.signInHint),
    el("div", { class: "choices" }, ...ways(offered),
      ...offered.filter(({ type }) => type === "passkey" && globalThis.PublicKeyCredential)
        .map((each) => button(t.signUpWithPasskey, async () => (await forms()).signUpWithPasskey(each.name)))),
    offered.length === 0 && el("p", {}, t.noProviders),
  );
}

/** Asks a person whose sign-in is too old to sign in again, and goes on with what was asked. */
export async function askAgain(intent) {
  const { t } = page;
  isAgain = true;
  keepIntent(intent);
  const linked = new Set(page.account?.identities.map((each) => each.provider));
  show(
    t.signInAgain,
    el("p", {}, t.signInAgainTo(t.tasks[intent.action])),
    el("div", { class: "choices" }, ...ways(page.providers.filter(({ name }) => linked.has(name))),
      button(t.cancel, async () => {
        takeIntent();
        await showAccount();
      })),
  );
}

/** The buttons of the ways to sign in. */
function ways(providers) {
  const { t } = page;
  return providers.flatMap((each) => {
    const { name, type } = each;
    if (isExternal(each)) return [button(t.signInWith(nameOf(name)), () => visit(name, "sign_in"))];
    switch (type) {
      case "email":
      case "phone": return [button(t.signInWithCode[type], async () => (await forms()).showCodeForm(name, type))];
      case "password": return [button(t.signInWithPassword, async () => (await forms()).showPasswordForm(name))];
      case "passkey":
        return globalThis.PublicKeyCredential
          ? [button(t.signInWithPasskey, async () => (await forms()).signInWithPasskey(name))] : [];
      default: return [];
    }
  });
}

/** Signs in with a proof, and goes on; asks for the second factor where the account has one. */
export async function finishSignIn(name, proof) {
  try {
    const { is_new_user: isNew } = await page.api.call(
      "POST", `v1/auth/sign-in/${name}`, { ...proof, create_account: !hasIntent() }, { isChange: true });
    await arrive(isNew);
  } catch (error) {
    if (!(error instanceof Refused && error.code === "SECOND_FACTOR_REQUIRED")) throw error;
    (await forms()).showSecondFactor(error.details, error.details.factors[0]);
  }
}

/** Shows the account after a sign-in, or goes on with what was asked for. */
export async function arrive(isNew) {
  const { t, api } = page;
  const intent = takeIntent();
  isAgain = false;
  await api.begin();
  if (intent && intent.user === api.session.user_id) {
    await (await changes()).resume(intent);
    return;
  }
  await showAccount();
  if (intent) warn(t.otherAccount);
  else say(isNew ? t.welcome : t.signedIn);
}
