// The session of the account that is to be combined, where its second factor needs one. It is beside that of the page, and its
// access token is in this module alone, so it ends with the page.

import { Refused } from "../lib/api.mjs";
import { explain, page, readIntent, showUnread } from "./page.mjs";
import { preview } from "./combine.mjs";
import { showAccount } from "./methods.mjs";

/** The access token; empty without a session. */
let token = "";

/** Opens the session by a request, and shows what combining would do. */
export async function open(path, body) {
  const { api } = page;
  // Meanwhile, another tab may have signed in to another account.
  if (readIntent()?.user !== api.session.user_id) throw new Refused({ status: 401, code: "INVALID_ACCESS_TOKEN" });
  const opened = await api.call("POST", path, body, { headers: { "Ledger-Beside": "yes" }, isChange: true });
  end();
  token = opened.access_token;
  // What was asked for may have been cancelled.
  if (readIntent()?.action === "other") await showPreview();
  else end();
}

/** Shows what combining would do; where that cannot be read, another try reads it alone. */
export async function showPreview() {
  try {
    // After the way to a provider, the page is a new one.
    if (!page.account) await showAccount();
    const { factors } = await page.api.call("GET", "v1/account/factors", undefined, { headers: authorization() });
    await preview({ proof: { other_access_token: token }, factors });
  } catch (error) {
    if (error instanceof Refused && (error.status === 0 || error.status >= 500)) {
      showUnread(error, showPreview);
      return;
    }
    end();
    if (!(error instanceof Refused)) throw error;
    // If the page's own session has ended, this says so; otherwise it is the other one.
    await showAccount();
    explain(error.code === "INVALID_ACCESS_TOKEN" ? new Refused({ status: 401, code: "INVALID_PROVIDER_TOKEN" }) : error);
  }
}

/** Ends the session, if there is one. Nothing waits for that, since nothing else has its token. */
export function end() {
  if (token) fetch("v1/auth/sign-out", { method: "POST", headers: authorization(), keepalive: true }).catch(() => {});
  forget();
}

/** Forgets the session, which a merge has ended. */
export function forget() {
  token = "";
}

const authorization = () => ({ Authorization: `Bearer ${token}` });

addEventListener("pagehide", end);
