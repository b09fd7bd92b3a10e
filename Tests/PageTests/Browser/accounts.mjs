// Accounts for the console's stories, made through the HTTP API with the development identity provider.

import assert from "node:assert/strict";
import { appCode, newName } from "./people.mjs";
import { base } from "./tab.mjs";

/** Sends a request, and checks the status of its answer. */
export async function ask(method, path, { body, token, status = 200 } = {}) {
  const response = await fetch(base + path, {
    method, headers: { ...(token && { Authorization: `Bearer ${token}` }), ...(body && { "Content-Type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  assert.equal(response.status, status, `${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function proof(provider, name) {
  // Tokens of one second differ by their nonces, so that none is a repetition of another.
  const nonce = provider === "google" ? crypto.randomUUID() : undefined;
  const { id_token, access_token } = await ask("GET", `/dev/idp/${provider}/token?${new URLSearchParams({ name, ...(nonce && { nonce }) })}`);
  return id_token ? { id_token, nonce } : { access_token };
}

/** Signs in, and up at the first time; returns the account. */
export async function signInBy(provider, name = newName()) {
  const { user_id, access_token } = await ask("POST", `/v1/auth/sign-in/${provider}`, { body: await proof(provider, name) });
  return { id: user_id, token: access_token, name };
}

/** Links an identity; 409 for one that another account has. */
export async function link(account, provider, name = account.name, status = 200) {
  return ask("POST", `/v1/auth/link/${provider}`, { body: await proof(provider, name), token: account.token, status });
}

/** Unlinks the identity of a provider. */
export function unlink(account, provider) {
  return ask("DELETE", `/v1/auth/link/${provider}`, { token: account.token });
}

/** Two accounts, of which the first was refused the Google identity of the second. */
export async function conflict() {
  const [caller, holder] = [await signInBy("apple"), await signInBy("google")];
  await link(caller, "google", holder.name, 409);
  return { caller, holder };
}

/** Enrols an authenticator app; returns the id of the factor. */
export async function enrolApp(account) {
  const begun = await ask("POST", "/v1/account/factor-enrolments", { body: { type: "totp" }, token: account.token });
  const proof = { enrolment_token: begun.enrolment_token, code: appCode(begun.secret) };
  return (await ask("POST", "/v1/account/factors", { body: proof, token: account.token })).factor_id;
}
