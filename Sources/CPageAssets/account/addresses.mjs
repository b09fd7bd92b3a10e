// Changes of an address, the return to a former one, and the names of passkeys.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { cancel } from "./combine.mjs";
import { addressField, codeField, newPasswordField, showCode, withBack } from "./forms.mjs";
import { nameOf, ofType, page, provider, run, say, show } from "./page.mjs";
import { change } from "./security.mjs";
import { showAccountAfter } from "./changes.mjs";
import { showSignIn } from "./sign-in.mjs";

/** The kind of address of a provider: passwords have e-mail addresses. */
const kindOf = (name) => provider(name).type === "phone" ? "phone" : "email";

/** The most characters of a name. */
const nameLengthMax = 64;

/** Asks for the name of a passkey, which may be a new one; without one it is told from others by its day. */
export function showNaming({ identity_id: id, provider: kind, name, linked_at: since }, isNew = false) {
  const { t, api, language } = page;
  const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(new Date(since));
  const input = field(t.passkeyName, { autocomplete: "off", maxlength: nameLengthMax, value: name ?? `${nameOf(kind)}, ${date}` },
    t.passkeyNameHint);
  show(t.namePasskey, form({
    fields: [input], submit: t.saveName, missing: t.missing, more: [cancel(isNew ? t.addedUnnamed(nameOf(kind)) : t.cancelled)],
    onsubmit: (target) => run(target, async () => {
      await api.call("PUT", `v1/account/identities/${id}/name`, { name: input.value.trim() }, { isChange: true });
      await showAccountAfter(t.nameSaved);
    }),
  }));
}

/** Asks for the address that replaces that of an identity, and for the code that is sent there; or for the name of a passkey. */
export function showAddressChange(identity) {
  const { t, api } = page;
  const { provider: name, email } = identity;
  if (provider(name).type === "passkey") {
    showNaming(identity);
    return;
  }
  const kind = kindOf(name);
  // A phone number stands in no answer.
  const current = email ? null : addressField(kind, t.currentAddress[kind]);
  const address = addressField(kind, t.newAddress[kind]);
  show(t.changeAddress[kind], el("p", {}, t.addressExplained), form({
    fields: current ? [current, address] : [address], submit: t.sendCode, missing: t.missing, more: [cancel()],
    onsubmit: (target) => run(target, async () => {
      const body = { address: address.value, change: true };
      const sent = await change({ action: "changeAddress", provider: name }, () =>
        api.call("POST", `v1/account/codes/${name}`, body));
      if (!sent) return;
      const code = codeField();
      show(t.changeAddress[kind], el("p", {}, t.codeSent(address.value)), form({
        fields: [code], submit: t.changeConfirm, missing: t.missing, more: [cancel()],
        onsubmit: (button) => run(button, () => changeAddress(name, {
          current_address: current?.value ?? email, challenge_id: sent.challenge_id, code: code.value.trim(),
        })),
      }));
    }),
  }));
}

async function changeAddress(name, body) {
  const { t, api } = page;
  const done = await change({ action: "changeAddress", provider: name }, () =>
    api.call("POST", `v1/account/addresses/${name}`, body, { isChange: true }));
  if (!done) return;
  // The cookie has another session. A failure is repaired by the next request.
  await api.begin().catch(() => {});
  await showAccountAfter(t.addressChanged);
}

/** Asks a person whose address was changed by another one for it, and for the code that is sent there. */
export function showReturn(name) {
  const { t, api } = page;
  const kind = kindOf(name);
  const address = addressField(kind, t.formerAddress[kind]);
  withBack((back) => show(t.takeBack, el("p", {}, t.returnExplained), form({
    fields: [address], submit: t.sendCode, missing: t.missing, more: [back],
    onsubmit: (target) => run(target, async () => {
      const path = `v1/auth/address-returns/${name}`;
      const { challenge_id: challenge } = await api.call("POST", path, { address: address.value });
      const password = kind === "email" && ofType("password").length > 0 ? newPasswordField() : null;
      showCode(address.value, back, async (code) => {
        await api.call("POST", `${path}/complete`, {
          challenge_id: challenge, code, ...(password && { password: password.value }),
        }, { isChange: true });
        showSignIn();
        say(t.addressReturned);
      }, password ? [password] : []);
    }),
  })));
}
