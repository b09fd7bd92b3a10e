// Addresses, the password, passkeys and second factors of an account.

import { ask } from "../lib/dialog.mjs";
import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { Refused } from "../lib/api.mjs";
import { createPasskey } from "../lib/passkeys.mjs";
import { qrCode } from "../lib/qr.mjs";
import { button, nameOf, ofType, page, provider, run, say, show, unusedKey, warn } from "./page.mjs";
import { askAgain, showAccountAfter } from "./changes.mjs";
import { cancel, showConflict } from "./combine.mjs";
import { addresses, showAccount } from "./methods.mjs";
import { addressField, codeField, newPasswordField } from "./forms.mjs";

/** Runs a change; a sign-in that is too old is repeated, and the change goes on after it. */
export async function change(intent, action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Refused && error.code === "REAUTHENTICATION_REQUIRED")) throw error;
    await askAgain(intent);
    return null;
  }
}

/** Asks for an address to add, and for a password with a provider of passwords; or for the number of an identity to confirm again. */
export function showAddition({ name, type }, again = null) {
  const { t, api } = page;
  const title = again ? t.confirmAgain : t.add[type];
  const address = addressField(type === "phone" ? "phone" : "email");
  const password = type === "password" ? newPasswordField() : null;
  show(title, again && el("p", {}, t.confirmAgainExplained), form({
    fields: [address], submit: t.sendCode, missing: t.missing, more: [cancel()],
    onsubmit: (target) => run(target, async () => {
      const body = { address: address.value };
      const { challenge_id: challenge } = await api.call("POST", `v1/account/codes/${name}`, body);
      const code = codeField();
      show(title, el("p", {}, t.codeSent(address.value)), form({
        fields: password ? [code, password] : [code], submit: again ? t.goOn : t.addConfirm, missing: t.missing, more: [cancel()],
        onsubmit: (button) => run(button, () => add(name, address.value, {
          challenge_id: challenge, code: code.value.trim(), ...(password && { password: password.value }),
        }, again)),
      }));
    }),
  }));
}

async function add(name, address, proof, again) {
  const { t } = page;
  const intent = { provider: name, ...(again ? { action: "confirmAgain", identity: again } : { action: "add" }) };
  // Another number than that of the identity may have taken its place.
  const isConfirmed = () => again && page.account?.identities.some((each) => each.identity_id === again);
  try {
    const done = await change(intent, () =>
      page.api.call("POST", `v1/auth/link/${name}`, proof, { isRepeatable: true, isChange: true }));
    if (!done) return;
    if (provider(name).type === "phone") sessionStorage.removeItem(unusedKey);
    await showAccountAfter(() => isConfirmed() ? t.confirmedAgain : t.added(nameOf(name)));
  } catch (error) {
    if (!(error instanceof Refused && error.code === "PROVIDER_CONFLICT")) throw error;
    await showAccount();
    const { password, ...code } = proof;
    if (again) warn(t.notConfirmedAgain);
    else showConflict(name, code, address);
  }
}

export async function addPasskey({ name }) {
  const { t, api } = page;
  const { challenge_id: challenge, options } = await api.call("POST", `v1/account/passkeys/${name}/create`, {});
  const credential = await createPasskey(options);
  if (!credential) {
    say(t.cancelled);
    return;
  }
  const done = await change({ action: "addPasskey", provider: name }, () =>
    api.call("POST", `v1/auth/link/${name}`, { challenge_id: challenge, credential }, { isRepeatable: true, isChange: true }));
  if (!done) return;
  await showAccountAfter(t.added(nameOf(name)));
  // The newest one, unless the account could not be read.
  const added = page.account?.identities.filter((each) => each.provider === name).at(-1);
  if (!added) return;
  (await addresses()).showNaming(added, true);
  say(t.added(nameOf(name)));
}

/** Asks for the current and a new password. */
export function showPasswordChange(identity) {
  const { t, api } = page;
  const email = field(t.email, { type: "email", autocomplete: "username", value: identity.email ?? "" });
  const current = field(t.currentPassword, { type: "password", autocomplete: "current-password" });
  const password = newPasswordField();
  show(t.changePassword, el("p", {}, t.everySessionEnds), form({
    fields: [email, current, password], submit: t.changePassword, missing: t.missing, more: [cancel()],
    onsubmit: (target) => run(target, async () => {
      const body = { email: email.value, current_password: current.value, password: password.value };
      const done = await change({ action: "password", provider: identity.provider }, () =>
        api.call("POST", "v1/account/password", body, { isChange: true }));
      if (!done) return;
      // The cookie has another session. A failure is repaired by the next request.
      await api.begin().catch(() => {});
      await showAccountAfter(t.passwordChanged);
    }),
  }));
}

/** Shows the kinds of second factors. */
export function showEnrolment() {
  const { t } = page;
  show(
    t.addFactor,
    el("p", {}, t.factorExplained),
    el("div", { class: "choices" },
      button(t.addApp, showApp),
      ofType("phone").length > 0 && button(t.addPhoneFactor, async () => showPhoneFactor()),
      ofType("passkey").length > 0 && globalThis.PublicKeyCredential && button(t.addKeyFactor, addKeyFactor),
      cancel()),
  );
}

async function showApp() {
  const { t, api, account } = page;
  const named = account?.identities.find((each) => each.email);
  const body = { type: "totp", issuer: location.hostname, ...(named && { account_name: named.email }) };
  const begun = await change({ action: "enrol" }, () => api.call("POST", "v1/account/factor-enrolments", body));
  if (!begun) return;
  const { rows } = await api.call("POST", "account/qr-code", { text: begun.uri });
  const code = codeField();
  show(
    t.addApp, el("p", {}, t.scan), qrCode(rows, t.qrLabel),
    el("p", {}, t.typeSecret, " ", el("code", {}, begun.secret.replace(/(.{4})(?=.)/g, "$1 "))),
    form({
      fields: [code], submit: t.addConfirm, missing: t.missing, more: [cancel()],
      onsubmit: (target) => run(target, () =>
        enrol({ enrolment_token: begun.enrolment_token, code: code.value.trim() })),
    }));
}

function showPhoneFactor() {
  const { t, api } = page;
  const phone = addressField("phone");
  show(t.addPhoneFactor, form({
    fields: [phone], submit: t.sendCode, missing: t.missing, more: [cancel()],
    onsubmit: (target) => run(target, async () => {
      const begun = await change({ action: "enrol" }, () =>
        api.call("POST", "v1/account/factor-enrolments", { type: "phone", phone: phone.value }));
      if (!begun) return;
      const code = codeField();
      show(t.addPhoneFactor, el("p", {}, t.codeSent(phone.value)), form({
        fields: [code], submit: t.addConfirm, missing: t.missing, more: [cancel()],
        onsubmit: (button) => run(button, () =>
          enrol({ challenge_id: begun.challenge_id, code: code.value.trim() })),
      }));
    }),
  }));
}

async function addKeyFactor() {
  const { t, api } = page;
  const begun = await change({ action: "enrol" }, () =>
    api.call("POST", "v1/account/factor-enrolments/passkey", {}));
  if (!begun) return;
  const credential = await createPasskey(begun.options);
  if (credential) await enrol({ challenge_id: begun.challenge_id, credential });
  else say(t.cancelled);
}

async function enrol(proof) {
  const { t, api } = page;
  const done = await change({ action: "enrol" }, () => api.call("POST", "v1/account/factors", proof, { isChange: true }));
  if (!done) return;
  if (!done.recovery_codes) {
    await showAccountAfter(t.factorAdded);
    return;
  }
  // No other answer has the codes, so nothing that can fail precedes them.
  showRecoveryCodes(done.recovery_codes);
  say(t.factorAdded);
  // The first factor has ended every session, and the cookie has the new one. A failure is repaired by the next request.
  await api.begin().catch(() => {});
}

/** Shows recovery codes, which no other answer has. */
function showRecoveryCodes(codes) {
  const { t } = page;
  const list = el("ul", { class: "codes", "aria-label": t.recoveryCodes },
    ...codes.map((code) => el("li", {}, el("code", {}, code))));
  show(
    t.recoveryCodes,
    el("p", {}, t.recoveryExplained),
    list,
    el("div", { class: "actions" },
      button(t.copy, async () => {
        try {
          await navigator.clipboard.writeText(codes.join("\n"));
          say(t.copied);
        } catch {
          // The browser does not permit it: the person copies what is selected.
          getSelection()?.selectAllChildren(list);
        }
      }),
      button(t.savedCodes, showAccount, { class: "primary" })));
}

export async function renewRecoveryCodes() {
  const done = await change({ action: "renewRecoveryCodes" }, () =>
    page.api.call("POST", "v1/account/recovery-codes", undefined, { isChange: true }));
  if (done) showRecoveryCodes(done.recovery_codes);
}

export async function removeFactor(factor, name) {
  const { t } = page;
  const isAgreed = await ask({
    title: t.removeFactorTitle(name), texts: [t.removeFactorEnds], confirm: t.remove, cancel: t.cancel,
  });
  if (isAgreed) await removeFactorNow(factor.factor_id);
}

export async function removeFactorNow(id) {
  const done = await change({ action: "removeFactor", factor: id }, () =>
    page.api.call("DELETE", `v1/account/factors/${id}`, undefined, { isChange: true }));
  if (done) await showAccountAfter(page.t.factorRemoved);
}

export async function keepFactor(factor) {
  await page.api.call("POST", `v1/account/factors/${factor.factor_id}/keep`, undefined, { isChange: true });
  await showAccountAfter(page.t.factorKept);
}
