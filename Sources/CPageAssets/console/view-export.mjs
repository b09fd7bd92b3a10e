// Export: a bundle of an account or of the whole log, without personal data, that others can verify offline.

import { el } from "../lib/el.mjs";
import { verifyBundle } from "../proof/bundle.mjs";
import { BundleFiles } from "../proof/bundle-files.mjs";
import { exactJSON, Fault, fromUTF8, need } from "../proof/bytes.mjs";
import { membersOfTar } from "../proof/tar.mjs";
import { isID } from "./format.mjs";
import { once } from "./repair-steps.mjs";
import { download } from "./save.mjs";
import { Trust } from "./trust.mjs";
import { memorySentence, othersWarning } from "./verdicts.mjs";

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
    const wanted = input.value.trim().toLowerCase();
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
        const name = wanted === "" ? "ledger.tar" : `account-${wanted}.tar`;
        const bytes = await context.api.download("v1/exports", wanted === "" ? {} : { account_id: wanted });
        const holds = await verdictOf(context, bytes, wanted);
        download(name, [bytes], "application/x-tar");
        said.replaceChildren(`Exported: ${name}, ${bytes.size} bytes. `, ...holds);
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
 * Verifies what was sent: that it is whole, since an export that fails on its way ends early, that it is what was asked
 * for, and that its log continues the one that this browser has seen.
 *
 * @param {any} context
 * @param {Blob} bytes
 * @param {string} account empty for the whole log
 */
async function verdictOf(context, bytes, account) {
  const members = await membersOfTar(bytes);
  need(members.has("manifest.json"), "it is incomplete");
  const files = new BundleFiles(members, true);
  const head = exactJSON(fromUTF8(await files.whole("bundle.json"), "bundle.json").trimEnd(), "bundle.json");
  const found = head?.account ?? "";
  need(found === account, "it is of something else than was asked for",
    { expected: account || "the whole log", found: String(found) || "the whole log" });
  const trust = new Trust(context);
  const { keys, isPinned } = await trust.keys();
  const isVerified = bytes.size <= verifiedBytesMax;
  const verdict = isVerified
    ? `Verified here: ${(await verifyBundle(members, { vkeys: keys.map(({ vkey }) => vkey), isArchive: true })).conclusion}. `
    : "It is complete, and too large to be verified here; of it, its checkpoint alone was verified. ";
  const seen = await trust.observe(fromUTF8(await files.whole("checkpoint.txt"), "checkpoint.txt"), keys);
  return [
    verdict, isPinned ? "The key is the one that you pasted. " : "The key is only stated by this server. ",
    ...memorySentence(seen), ...(seen.others.length > 0 ? [othersWarning(seen.others)] : []),
  ];
}
