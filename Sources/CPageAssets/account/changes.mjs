// Changes of the ways to sign in, and what goes on after a sign-in that they required.

import { Refused } from "../lib/api.mjs";
import { ask } from "../lib/dialog.mjs";
import { el } from "../lib/el.mjs";
import {
  button, explain, isOwn, keepIntent, Left, nameOf, page, provider, say, show, showUnread, takeIntent, visit,
} from "./page.mjs";
import { addresses, combining, security, showAccount } from "./methods.mjs";
import { showSignIn, ways } from "./sign-in.mjs";

/** Asks whether a way to sign in is to end. */
export async function askToUnlink(identity) {
  const { t } = page;
  const name = identity.name ?? nameOf(identity.provider);
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
      { isRepeatable: true, isChange: true });
  } catch (error) {
    if (!(error instanceof Refused && error.code === "REAUTHENTICATION_REQUIRED")) throw error;
    await askAgain({ action: "unlink", provider: name, identity: id });
    return;
  }
  await showAccountAfter(done);
}

/** Stops an unlink that support has planned. */
export async function keepIdentity(identity) {
  await page.api.call("POST", `v1/account/identities/${identity.identity_id}/keep`, undefined, { isChange: true });
  await showAccountAfter(page.t.identityKept(nameOf(identity.provider)));
}

/** Links the account at a provider from which the person comes back. */
export async function endLink(provider) {
  const proof = { flow_code: "cookie" };
  try {
    await page.api.call("POST", `v1/auth/link/${provider}`, proof, { isRepeatable: true, isChange: true });
  } catch (error) {
    if (!(error instanceof Refused) || error.code === "INVALID_ACCESS_TOKEN") throw error;
    if (error.code === "REAUTHENTICATION_REQUIRED") {
      await askAgain({ action: "link", provider });
      return;
    }
    await showAccount();
    if (error.code === "PROVIDER_CONFLICT") (await combining()).showConflict(provider, proof);
    else explain(error);
    return;
  }
  await showAccountAfter(page.t.linked(nameOf(provider)));
}

/**
 * Shows the account after a change, with the text that it happened, also if the account cannot be read. The change may
 * have ended the session, which began with what is no longer linked. A text that depends on the account is a function.
 */
export async function showAccountAfter(text) {
  try {
    await showAccount();
  } catch (error) {
    if (error instanceof Refused && error.code === "INVALID_ACCESS_TOKEN") {
      page.account = null;
      showSignIn();
    } else if (!(error instanceof Left)) {
      showUnread(error, showAccount);
    }
  }
  say(typeof text === "function" ? text() : text);
}

/** Asks a person whose sign-in is too old to sign in again, or to sign in to the `other` account; keeps the pending action. */
export async function askAgain(intent) {
  const { t } = page;
  const isOther = intent.action === "other";
  // After the way to a provider, the page is a new one.
  if (!page.account) await showAccount();
  keepIntent(intent);
  const linked = new Set(page.account?.identities.map((each) => each.provider));
  show(
    isOther ? t.signInOther : t.signInAgain,
    el("p", {}, isOther ? t.signInOtherExplained : t.signInAgainTo(t.tasks[intent.action])),
    el("div", { class: "choices" }, ...ways(page.providers.filter(({ name }) => isOther || linked.has(name))),
      button(t.cancel, async () => {
        takeIntent();
        await showAccount();
      })),
  );
}

/** Continues the action that was pending before a sign-in, or a way to a provider, once the account is shown. */
export async function resume(intent) {
  const { t } = page;
  try {
    switch (intent.action) {
      case "link": return await visit(intent.provider, "link");
      case "unlink": return await unlink(intent.provider, intent.identity);
      case "merge": return await (await combining()).goOn(intent);
      case "add": return await (await security()).showAddition(provider(intent.provider));
      case "confirmAgain": return await (await security()).showAddition(provider(intent.provider), intent.identity);
      case "addPasskey": return await (await security()).addPasskey(provider(intent.provider));
      case "password":
      case "changeAddress": {
        const identity = page.account?.identities.find((each) => each.provider === intent.provider);
        // It may have been unlinked meanwhile.
        if (!identity) return say(t.signedIn);
        return intent.action === "password" ? (await security()).showPasswordChange(identity)
          : (await addresses()).showAddressChange(identity);
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
