// Checked by tsc and never run: right uses of the client have no type error, and wrong ones have.

import { AccountLedger, AccountLedgerError, AccountLedgerSupport } from "../account-ledger.js";

export async function rightUses() {
  const ledger = new AccountLedger({ url: "https://ledger.example", tenant: "acme", timeout: 5_000 });
  const session = await ledger.signIn("apple", { id_token: "t", nonce: "n", create_account: false });
  /** @type {boolean} */
  const isNew = session.is_new_user;
  const account = await ledger.account({ signal: new AbortController().signal });
  /** @type {string | undefined} */
  const email = account.identities[0]?.email;
  const plan = await ledger.previewMerge({ provider: "google", id_token: "t", keep: { apple: "absorbed" } });
  try {
    await ledger.merge(
      { provider: "google", id_token: "t", plan_digest: plan.plan_digest }, { idempotencyKey: "k" });
  } catch (error) {
    if (error instanceof AccountLedgerError && error.code === "MERGE_PLAN_CHANGED") return error.details["field"];
  }
  const signedInToBoth = await ledger.previewMerge({ other_access_token: "t", keep: { apple: "survivor" } });
  /** @type {"survivor" | "absorbed" | undefined} */
  const side = signedInToBoth.factors[0]?.of;
  await ledger.merge({ other_access_token: "t", plan_digest: signedInToBoth.plan_digest });
  const support = new AccountLedgerSupport({ url: "https://ledger.example", apiKey: "k" });
  const planned = await support.previewMerge("id", { absorb: "other", reason: "asked" });
  const asked = await support.mergeAccounts("id", {
    absorb: "other", plan_digest: planned.plan_digest, reason: "asked", case: "T-1",
  }, { idempotencyKey: "k" });
  if (planned.needs_two && "merge_request" in asked) {
    await support.previewMerge("id", { absorb: "other", reason: "asked", merge_request: asked.merge_request });
  }
  const undone = await new AccountLedgerSupport({ url: "https://ledger.example", apiKey: "k" })
    .undoMerge("id", { reason: "asked", case: "T-1" });
  if ("undo_request" in undone) {
    await new AccountLedgerSupport({ url: "https://ledger.example", apiKey: "other" })
      .undoMerge("id", { reason: "asked", case: "T-1", undo_request: undone.undo_request });
  }
  new AccountLedger({ url: "https://ledger.example", onStoreError: ({ code, cause }) => [code === "STORE_FAILED", cause] });
  return isNew ? email : side;
}

export async function wrongUses() {
  // @ts-expect-error no address
  const ledger = new AccountLedger({});
  // @ts-expect-error no function
  new AccountLedger({ url: "https://ledger.example", onStoreError: true });
  // @ts-expect-error no ID token
  await ledger.signIn("apple", { nonce: "n" });
  // @ts-expect-error tokens are not for the caller
  (await ledger.signIn("apple", { id_token: "t" })).refresh_token;
  // @ts-expect-error a side that does not exist
  await ledger.previewMerge({ provider: "google", id_token: "t", keep: { apple: "both" } });
  // @ts-expect-error no plan
  await ledger.merge({ provider: "google", id_token: "t" });
  // @ts-expect-error neither a proof nor an access token
  await ledger.previewMerge({ keep: { apple: "absorbed" } });
  // @ts-expect-error no plan of support
  await new AccountLedgerSupport({ url: "https://ledger.example", apiKey: "k" }).mergeAccounts("id", { absorb: "other", reason: "asked", case: "T-1" });
  // @ts-expect-error a key has no meaning here
  await ledger.account({ idempotencyKey: "k" });
  // @ts-expect-error a code that does not exist
  new AccountLedgerError({ code: "CONFLICT", message: "" });
  // @ts-expect-error no reason
  await new AccountLedgerSupport({ url: "https://ledger.example", apiKey: "k" }).previewUndo("id", {});
}
