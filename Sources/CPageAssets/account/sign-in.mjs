// Signing in and up, with every way that the tenant offers, and the second step.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { Refused } from "../lib/api.mjs";
import { createPasskey, usePasskey } from "../lib/passkeys.mjs";
import {
  button, hasIntent, isExternal, keepIntent, nameOf, page, run, say, show, takeIntent, visit, warn,
} from "./page.mjs";
import { resume, showAccount } from "./methods.mjs";

/** Whether the person signs in again to go on with something; then no account is opened. */
let isAgain = false;

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
        .map((each) => button(t.signUpWithPasskey, () => signUpWithPasskey(each.name)))),
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
  warn(t.signInAgainTo(t.tasks[intent.action]));
}

/** The buttons of the ways to sign in. */
function ways(providers) {
  const { t } = page;
  return providers.flatMap((each) => {
    const { name, type } = each;
    if (isExternal(each)) return [button(t.signInWith(nameOf(name)), () => visit(name, "sign_in"))];
    switch (type) {
      case "email":
      case "phone": return [button(t.signInWithCode[type], async () => showCodeForm(name, type))];
      case "password": return [button(t.signInWithPassword, async () => showPasswordForm(name))];
      case "passkey":
        return globalThis.PublicKeyCredential
          ? [button(t.signInWithPasskey, () => signInWithPasskey(name))] : [];
      default: return [];
    }
  });
}

/** Makes a view with a button that leads back to the ways to sign in. */
function withBack(make) {
  make(button(page.t.back, async () => {
    const intent = takeIntent();
    if (isAgain && intent) await askAgain(intent);
    else showSignIn();
  }));
}

/** The properties of a field for an address. */
export function addressField(type) {
  const { t } = page;
  return type === "email"
    ? field(t.email, { type: "email", autocomplete: "email", maxlength: 254 })
    : field(t.phone, { type: "tel", autocomplete: "tel", maxlength: 32 }, t.phoneHint);
}

/** The field for a code that was sent. */
export function codeField() {
  return field(page.t.code, { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 32 });
}

/** The field for a new password. */
export function newPasswordField() {
  return field(page.t.newPassword, { type: "password", autocomplete: "new-password" });
}

function showCodeForm(name, type) {
  const { t, api } = page;
  const address = addressField(type);
  withBack((back) => show(t.signInWithCode[type], form({
    fields: [address], submit: t.sendCode, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const { challenge_id: challenge } = await api.call("POST", `v1/auth/codes/${name}`, { address: address.value });
      showCode(address.value, back, (code) => finishSignIn(name, { challenge_id: challenge, code }));
    }),
  })));
}

/** Asks for the code that was sent to an address. */
export function showCode(address, back, finish, more = []) {
  const { t } = page;
  const code = codeField();
  show(t.enterCode, el("p", {}, t.codeSent(address)), form({
    fields: [code, ...more], submit: t.goOn, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, () => finish(code.value.trim())),
  }));
}

function showPasswordForm(name) {
  const { t } = page;
  const email = field(t.email, { type: "email", autocomplete: "username", maxlength: 254 });
  const password = field(t.password, { type: "password", autocomplete: "current-password" });
  withBack((back) => show(t.signInWithPassword, form({
    fields: [email, password], submit: t.signIn, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, () => finishSignIn(name, { email: email.value, password: password.value })),
  }), el("div", { class: "choices" },
    !isAgain && button(t.signUp, async () => showSignUp(name)),
    button(t.forgotPassword, async () => showReset(name)))));
}

function showSignUp(name) {
  const { t, api } = page;
  const email = field(t.email, { type: "email", autocomplete: "username", maxlength: 254 });
  const password = newPasswordField();
  withBack((back) => show(t.signUp, form({
    fields: [email, password], submit: t.sendCode, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const body = { email: email.value, password: password.value };
      const { challenge_id: challenge } = await api.call("POST", `v1/auth/sign-up/${name}`, body);
      showCode(email.value, back, (code) => finishSignIn(name, { challenge_id: challenge, code }));
    }),
  })));
}

function showReset(name) {
  const { t, api } = page;
  const email = field(t.email, { type: "email", autocomplete: "username", maxlength: 254 });
  withBack((back) => show(t.forgotPassword, el("p", {}, t.resetHint), form({
    fields: [email], submit: t.sendCode, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const { challenge_id: challenge } = await api.call(
        "POST", `v1/auth/password-resets/${name}`, { email: email.value });
      const password = newPasswordField();
      showCode(email.value, back, async (code) => {
        const body = { challenge_id: challenge, code, password: password.value };
        await api.call("POST", `v1/auth/password-resets/${name}/complete`, body);
        showPasswordForm(name);
        say(t.passwordChanged);
      }, [password]);
    }),
  })));
}

async function signInWithPasskey(name) {
  const { challenge_id: challenge, options } = await page.api.call("POST", `v1/auth/passkeys/${name}/get`, {});
  const credential = await usePasskey(options);
  if (credential) await finishSignIn(name, { challenge_id: challenge, credential });
  else say(page.t.cancelled);
}

async function signUpWithPasskey(name) {
  const { challenge_id: challenge, options } = await page.api.call("POST", `v1/auth/passkeys/${name}/create`, {});
  const credential = await createPasskey(options);
  if (credential) await finishSignIn(name, { challenge_id: challenge, credential });
  else say(page.t.cancelled);
}

/** Signs in with a proof, and goes on; asks for the second factor where the account has one. */
export async function finishSignIn(name, proof) {
  try {
    const { is_new_user: isNew } = await page.api.call(
      "POST", `v1/auth/sign-in/${name}`, { ...proof, create_account: !hasIntent() });
    await arrive(isNew);
  } catch (error) {
    if (!(error instanceof Refused && error.code === "SECOND_FACTOR_REQUIRED")) throw error;
    showSecondFactor(error.details, error.details.factors[0]);
  }
}

/** Shows the account after a sign-in, or goes on with what was asked for. */
async function arrive(isNew) {
  const { t, api } = page;
  const intent = takeIntent();
  isAgain = false;
  await api.begin();
  if (intent && intent.user === api.session.user_id) {
    await resume(intent);
    return;
  }
  await showAccount();
  if (intent) warn(t.otherAccount);
  else say(isNew ? t.welcome : t.signedIn);
}

/** Asks for a second factor, with the others as ways out. */
function showSecondFactor(step, factor) {
  const { t, api } = page;
  const send = async (given) => {
    const body = { sign_in_token: step.sign_in_token, factor_id: factor.factor_id, ...given };
    const { is_new_user: isNew } = await api.call("POST", "v1/auth/second-factor", body);
    await arrive(isNew);
  };
  const token = { sign_in_token: step.sign_in_token, factor_id: factor.factor_id };
  const others = step.factors.filter((each) => each !== factor).map((each) =>
    button(t.useFactor(factorName(each)), async () => showSecondFactor(step, each)));
  withBack((back) => {
    const code = factor.type === "recovery_codes"
      ? field(t.recoveryCode, { autocomplete: "off", autocapitalize: "characters", maxlength: 32 }) : codeField();
    const ask = (given) => form({
      fields: [code], submit: t.goOn, missing: t.missing, more: [back],
      onsubmit: (target) => run(target, () => send({ ...given, code: code.value.trim() })),
    });
    const rest = el("div", { class: "choices" }, ...others);
    const heading = t.secondStep;
    switch (factor.type) {
      case "phone":
        show(heading, el("p", {}, t.phoneStep(factor.hint)), el("div", { class: "actions" }, button(t.sendCode, async () => {
          const { challenge_id: challenge } = await api.call("POST", "v1/auth/second-factor/code", token);
          show(heading, el("p", {}, t.codeSent(`…${factor.hint}`)), ask({ challenge_id: challenge }), rest);
        }, { class: "primary" }), back), rest);
        break;
      case "passkey":
        show(heading, el("p", {}, t.passkeyStep), el("div", { class: "actions" }, button(t.usePasskey, async () => {
          const { challenge_id: challenge, options } = await api.call("POST", "v1/auth/second-factor/passkey", token);
          const credential = await usePasskey(options);
          if (credential) await send({ challenge_id: challenge, credential });
          else say(t.cancelled);
        }, { class: "primary" }), back), rest);
        break;
      default:
        show(heading, el("p", {}, factor.type === "totp" ? t.appStep : t.recoveryStep), ask({}), rest);
    }
  });
}

function factorName(factor) {
  return factor.type === "phone" ? page.t.phoneFactor(factor.hint) : page.t.factors[factor.type];
}
