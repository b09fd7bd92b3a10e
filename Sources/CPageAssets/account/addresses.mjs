// Changes of an address, and the return to a former one.

import { el } from "../lib/el.mjs";
import { form } from "../lib/form.mjs";
import { cancel } from "./combine.mjs";
import { addressField, codeField, newPasswordField, showCode, withBack } from "./forms.mjs";
import { ofType, page, provider, run, say, show } from "./page.mjs";
import { change } from "./security.mjs";
import { showAccountAfter } from "./changes.mjs";
import { showSignIn } from "./sign-in.mjs";

/** The kind of address of a provider: passwords have e-mail addresses. */
const kindOf = (name) => provider(name).type === "phone" ? "phone" : "email";

/** Asks for the address that replaces that of an identity, and for the code that is sent there. */
export function showAddressChange({ provider: name, email }) {
  const { t, api } = page;
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
