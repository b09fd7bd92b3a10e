// The forms of sign-ins and sign-ups, and the second step.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { createPasskey, usePasskey } from "../lib/passkeys.mjs";
import { button, hasIntent, page, run, say, show, takeIntent } from "./page.mjs";
import { addresses, showAccount } from "./methods.mjs";
import { askAgain } from "./changes.mjs";
import { arrive, finishSignIn, open, showSignIn } from "./sign-in.mjs";

/** Makes a view with a button that leads back to the ways to sign in. */
export function withBack(make) {
  make(button(page.t.back, async () => {
    if (!hasIntent()) {
      showSignIn();
      return;
    }
    // After the way to a provider, the page is a new one.
    if (!page.account) await showAccount();
    const intent = takeIntent();
    if (intent.user === page.account?.user_id) await askAgain(intent);
    else await showAccount();
  }));
}

/** The properties of a field for an address. */
export function addressField(type, label = page.t[type]) {
  return type === "email"
    ? field(label, { type: "email", autocomplete: "email", maxlength: 254 })
    : field(label, { type: "tel", autocomplete: "tel", maxlength: 32 }, page.t.phoneHint);
}

/** The field for a code that was sent. */
export function codeField() {
  return field(page.t.code, { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 32 });
}

/** The field for a new password. */
export function newPasswordField() {
  return field(page.t.newPassword, { type: "password", autocomplete: "new-password" });
}

/** Asks for an address, and then for the code that was sent to it. */
export function showCodeForm(name, type) {
  const { t, api } = page;
  const address = addressField(type);
  withBack((back) => show(t.signInWithCode[type], form({
    fields: [address], submit: t.sendCode, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const { challenge_id: challenge } = await api.call("POST", `v1/auth/codes/${name}`, { address: address.value });
      showCode(address.value, back, (code) => finishSignIn(name, { challenge_id: challenge, code }));
    }),
  }), returning(name)));
}

/** The button for a person whose address was changed by another one. */
function returning(name) {
  return !hasIntent() && el("div", { class: "choices" },
    button(page.t.takeBack, async () => (await addresses()).showReturn(name)));
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

/** Asks for an address and its password. */
export function showPasswordForm(name) {
  const { t, api } = page;
  const email = field(t.email, { type: "email", autocomplete: "username", maxlength: 254 });
  const password = field(t.password, { type: "password", autocomplete: "current-password" });
  withBack((back) => show(t.signInWithPassword, form({
    fields: [email, password], submit: t.signIn, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const proof = { email: email.value, password: password.value };
      try {
        await finishSignIn(name, proof);
      } catch (error) {
        if (error.details?.needs !== "code") throw error;
        const { challenge_id: challenge } = await api.call("POST", `v1/auth/codes/${name}`, { address: proof.email });
        showCode(proof.email, back, (code) => finishSignIn(name, { ...proof, challenge_id: challenge, code }));
      }
    }),
  }), el("div", { class: "choices" },
    !hasIntent() && button(t.signUp, async () => showSignUp(name)),
    button(t.forgotPassword, async () => showReset(name))), returning(name)));
}

function showSignUp(name) {
  const { t, api } = page;
  const email = field(t.email, { type: "email", autocomplete: "username", maxlength: 254 });
  const password = newPasswordField();
  withBack((back) => show(t.signUp, form({
    fields: [email, password], submit: t.sendCode, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const body = { email: email.value, password: password.value };
      const { challenge_id: challenge, is_new_user: isNew } = await api.call(
        "POST", `v1/auth/sign-up/${name}`, body, { isChange: true });
      const confirm = (other) =>
        showCode(email.value, other, (code) => finishSignIn(name, { challenge_id: challenge, code }));
      if (!isNew) return confirm(back);
      // The account is open already, and the address may be confirmed later.
      await arrive(true, () => {
        if (challenge) confirm(button(t.back, () => showAccount()));
      });
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
        await api.call("POST", `v1/auth/password-resets/${name}/complete`, body, { isChange: true });
        showPasswordForm(name);
        say(t.passwordChanged);
      }, [password]);
    }),
  })));
}

export async function signInWithPasskey(name) {
  const { challenge_id: challenge, options } = await page.api.call("POST", `v1/auth/passkeys/${name}/get`, {});
  const credential = await usePasskey(options);
  if (credential) await finishSignIn(name, { challenge_id: challenge, credential });
  else say(page.t.cancelled);
}

export async function signUpWithPasskey(name) {
  const { challenge_id: challenge, options } = await page.api.call("POST", `v1/auth/passkeys/${name}/create`, {});
  const credential = await createPasskey(options);
  if (credential) await finishSignIn(name, { challenge_id: challenge, credential });
  else say(page.t.cancelled);
}

/** Asks for a second factor, with the others as ways out. */
export function showSecondFactor(step, factor) {
  const { t, api } = page;
  const token = { sign_in_token: step.sign_in_token, factor_id: factor.factor_id };
  const send = (given) => open("v1/auth/second-factor", { ...token, ...given });
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

/** The name of a second factor as people know it. */
export function factorName(factor) {
  return factor.type === "phone" ? page.t.phoneFactor(factor.hint) : page.t.factors[factor.type];
}
