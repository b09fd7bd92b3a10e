// Runs in the browser of browser.test.js: the client from a page of another origin than the ledger's.

import { AccountLedger, AccountLedgerError } from "./account-ledger.js";

const { url, proofs } = await (await fetch("settings")).json();

async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AccountLedgerError) {
      const { name, message, code, status, requestId, retryAfter } = error;
      return { name, message, code, status, requestId, retryAfter };
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

async function run() {
  const ledger = new AccountLedger({ url });
  const session = await ledger.signIn("apple", proofs.apple);
  const linked = await ledger.link("google", proofs.google);
  const conflict = await refusal(ledger.link("google", proofs.taken));
  await ledger.refresh();
  const account = await ledger.account();
  const unlinked = await ledger.unlink("google");
  for (let attempt = 0; attempt < 5; attempt++) {
    await refusal(ledger.link("google", { id_token: `wrong ${attempt}` }));
  }
  const limited = await refusal(ledger.link("google", { id_token: "wrong again" }));
  await ledger.signOut();
  const signedOut = await refusal(ledger.account());
  return { isSecureContext, session, linked, conflict, account, unlinked, limited, signedOut };
}

const result = await run().catch((error) => ({ failure: String(error.stack ?? error) }));
await fetch("result", { method: "POST", body: JSON.stringify(result) });
