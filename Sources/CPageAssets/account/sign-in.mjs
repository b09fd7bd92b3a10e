// Signing in and up, with every way that the tenant offers.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import {
  button, hasIntent, isExternal, later, Left, nameOf, page, readIntent, say, show, showUnread, takeIntent, visit, warn,
} from "./page.mjs";
import { changes, showAccount } from "./methods.mjs";

/** The forms, which the first view does without. */
const forms = () => later(import("./forms.mjs"));

/** Shows the ways to sign in to a person who is signed out. */
export function showSignIn() {
  const { t } = page;
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

/** The buttons of the ways to sign in. */
export function ways(providers) {
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
    await open(`v1/auth/sign-in/${name}`, { ...proof, create_account: !hasIntent() });
  } catch (error) {
    if (!(error instanceof Refused && error.code === "SECOND_FACTOR_REQUIRED")) throw error;
    (await forms()).showSecondFactor(error.details, error.details.factors[0]);
  }
}

/** Opens a session by a request, and goes on; to the account that is to be combined, one beside that of the page. */
export async function open(path, body) {
  if (readIntent()?.action === "other") return (await later(import("./other.mjs"))).open(path, body);
  const { is_new_user: isNew } = await page.api.call("POST", path, body, { isChange: true });
  await arrive(isNew);
}

/** Shows the account after a sign-in, and continues the pending action or `after`. */
export async function arrive(isNew, after = () => {}) {
  const { t, api } = page;
  const done = isNew ? t.welcome : t.signedIn;
  let goOn;
  try {
    await api.begin();
    await showAccount();
    if (hasIntent()) goOn = (await changes()).resume;
  } catch (error) {
    if (error instanceof Left || error.code === "INVALID_ACCESS_TOKEN") throw error;
    // The proof is used up, and the pending action is kept.
    showUnread(error, () => arrive(isNew, after));
    say(done);
    return;
  }
  const intent = takeIntent();
  if (intent && intent.user !== api.session.user_id) warn(t.otherAccount);
  else if (goOn) await goOn(intent);
  else say(done);
  after();
}
