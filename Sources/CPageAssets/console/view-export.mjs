// Export: a bundle of an account or of the whole log, without personal data, that others can verify offline.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { verifyBundle } from "../proof/bundle.mjs";
import { Fault, need } from "../proof/bytes.mjs";
import { membersOfTar } from "../proof/tar.mjs";
import { isID } from "./format.mjs";
import { once } from "./repair-steps.mjs";
import { download } from "./save.mjs";
import { Trust } from "./trust.mjs";

/** The size of the largest bundle that is verified before it is saved. */
const verifiedBytesMax = 1 << 26;

/** @param {any} context */
export async function show(context) {
  const account = el("input", {
    id: "export-account", autocomplete: "off", spellcheck: "false", value: context.query.get("account") ?? "",
    "aria-describedby": "export-hint export-error",
  });
  const input = /** @type {HTMLInputElement} */ (account);
  const fault = el("p", { class: "error", id: "export-error" });
  const said = el("div", { role: "status", class: "status" });
  const button = el("button", { type: "submit", class: "primary" }, "Export");
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const wanted = input.value.trim();
    fault.textContent = wanted === "" || isID(wanted) ? "" : "This is no id of an account.";
    if (fault.textContent) {
      input.setAttribute("aria-invalid", "true");
      input.focus();
      return;
    }
    input.removeAttribute("aria-invalid");
    await once(context, button, async () => {
      said.textContent = "Exporting";
      try {
        const { bytes, name } = await bundle(context, wanted);
        const holds = await verdictOf(context, bytes);
        download(name, [bytes], "application/x-tar");
        said.textContent = `Exported: ${name}, ${bytes.size} bytes. ${holds}`;
      } catch (error) {
        said.textContent = "";
        if (!(error instanceof Fault)) throw error;
        context.warn(`The bundle is not saved, because it does not hold: ${error.message}. Try again; if that stays, tell your auditor and those `
          + "who answer for the ledger's security.");
      }
    });
  };
  return [
    el("p", {}, "A bundle has the exact entries up to the newest signed checkpoint, and their proofs, in a tar file. It has no personal data. "
      + "The access log records it."),
    el("form", { novalidate: true, onsubmit: send },
      el("div", { class: "field" }, el("label", { for: "export-account" }, "Account"), account,
        el("span", { class: "quiet hint", id: "export-hint" }, "Empty for the whole log"), fault),
      el("div", { class: "actions" }, button)),
    said,
    el("h2", {}, "Verify it"),
    el("p", {}, "Unpack it and open verify.html from your disk, or run verify.py, or “account-ledger verify --offline”. "
      + "Use the key of the log that you were given by another way."),
  ];
}

/**
 * Verifies what was sent: an export that fails on its way ends early.
 *
 * @param {any} context
 * @param {Blob} bytes
 */
async function verdictOf(context, bytes) {
  const members = await membersOfTar(bytes);
  need(members.has("manifest.json"), "it is incomplete");
  if (bytes.size > verifiedBytesMax) return "It is complete, and too large to be verified here.";
  const { keys } = await new Trust(context).keys();
  const { conclusion } = await verifyBundle(members, { vkeys: keys.map(({ vkey }) => vkey), isArchive: true });
  return `Verified here: ${conclusion}.`;
}

/**
 * @param {any} context
 * @param {string} account
 */
async function bundle(context, account) {
  let response;
  try {
    response = await fetch(`${context.root}v1/exports`, {
      method: "POST", credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
      headers: { "Content-Type": "application/json", "Ledger-CSRF": context.api.session.csrf_token },
      body: JSON.stringify(account === "" ? {} : { account_id: account }),
    });
  } catch {
    throw new Refused({ status: 0, code: "NETWORK" });
  }
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Refused({
      status: response.status, code: answer.error?.code ?? "INTERNAL", details: answer.error?.details ?? {},
      requestId: response.headers.get("X-Request-Id"), retryAfter: Number(response.headers.get("Retry-After") ?? 0),
    });
  }
  try {
    const bytes = await response.blob();
    return { bytes, name: account === "" ? "ledger.tar" : `account-${account}.tar` };
  } catch {
    // The bundle broke off: a part of one proves nothing.
    throw new Refused({ status: 0, code: "NETWORK" });
  }
}
