// The page in a bundle. The modules that it needs stand before it in the same script.

import { el } from "../lib/el.mjs";
import { verifyBundle } from "../proof/bundle.mjs";
import { Fault, toBase64 } from "../proof/bytes.mjs";
import { membersOfDirectory, membersOfTar } from "../proof/tar.mjs";

const hint = "as the operator of the log or an earlier audit gave it to you. It has the form NAME+ID+KEY; separate several "
  + "by spaces. Without one the bundle's own key is used, which shows only that the bundle is consistent.";
const limits = [
  "This page came with the bundle: a forger of the bundle could have changed it as well. Take it from a release, or use "
    + "verify.py, verify.go or “account-ledger verify --offline”.",
  "It knows the form of entries and not the kinds of events: it does not check their details, nor that each event commits "
    + "to the disclosures that its kind always has. “account-ledger verify --offline” does.",
  "No bundle proves anything about events after its checkpoint, or that the recorded facts are true.",
];

/** Shows the form, below the text of the page. */
function show(/** @type {HTMLElement} */ main) {
  const key = input({ id: "key", type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": "key-hint" });
  const tar = input({ id: "tar", type: "file", accept: ".tar" });
  const directory = input({ id: "directory", type: "file", webkitdirectory: true, multiple: true });
  const status = el("div", { role: "status", class: "status" });
  const alert = el("div", { role: "alert", class: "alert", tabindex: "-1" });
  const result = el("div");
  const button = el("button", { type: "submit" }, "Verify");
  for (const field of [tar, directory]) {
    // The last choice counts.
    field.addEventListener("change", () => { (field === tar ? directory : tar).value = ""; });
  }
  const run = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true");
    alert.replaceChildren();
    result.replaceChildren();
    status.className = "status waiting";
    status.textContent = "Verifying";
    try {
      const report = await verify({ key, tar, directory }, (text) => { status.textContent = text; });
      status.className = "status";
      status.textContent = report.conclusion;
      result.replaceChildren(...rowsOf(report));
    } catch (error) {
      status.textContent = "";
      alert.replaceChildren(...refusalOf(error));
      alert.focus();
    } finally {
      button.removeAttribute("aria-disabled");
    }
  };
  main.append(
    el("form", { onsubmit: run },
      el("div", { class: "field" }, el("label", { for: "key" }, "The log's verifier key"), key,
        el("p", { class: "quiet", id: "key-hint" }, hint)),
      el("div", { class: "field" }, el("label", { for: "tar" }, "The tar file of the bundle"), tar),
      el("div", { class: "field" }, el("label", { for: "directory" }, "Or the directory into which it was unpacked"), directory),
      button),
    status, alert, result,
    el("h2", {}, "Limits of this check"), el("ul", {}, ...limits.map((text) => el("li", {}, text))));
}

/** @returns {HTMLInputElement} */
function input(/** @type {Record<string, any>} */ properties) {
  return /** @type {HTMLInputElement} */ (el("input", properties));
}

/**
 * @param {{key: HTMLInputElement, tar: HTMLInputElement, directory: HTMLInputElement}} fields
 * @param {(text: string) => void} say
 */
async function verify({ key, tar, directory }, say) {
  const archive = tar.files?.[0];
  if (!archive && !directory.files?.length) throw new Choice("Choose the tar file or the directory of the bundle.");
  const members = archive ? await membersOfTar(archive) : membersOfDirectory(/** @type {FileList} */ (directory.files));
  const vkeys = key.value.split(/[\s,]+/).filter((text) => text !== "");
  return verifyBundle(members, {
    vkeys, isArchive: Boolean(archive), onprogress: (events, size) => say(`Verifying: ${events} events read, the log has ${size}`),
  });
}

/** No fault of a bundle. */
class Choice extends Error {}

/** @param {import("../proof/bundle.mjs").Report} report */
function rowsOf(report) {
  const { head } = report;
  const own = report.usesOwnKeys && "this key comes from the bundle: compare it with the key you know";
  const rows = [
    ["Log", `${head.origin}, ${head.size} entries, root ${toBase64(head.root)}`],
    ["Signed by", ...report.signers, own],
    ["Scope", head.account === null ? "every entry" : `account ${head.account}`],
    ["Events", `${report.events}, ${report.accounts} accounts without gaps`],
    ["Checkpoints", `${report.checkpoints} consistent`,
      report.unsigned > 0n && `${report.unsigned} of them not signed by the given keys`],
    ["Disclosures", String(report.disclosures),
      report.redacted > 0 && `${report.redacted} redacted: their accounts were erased`,
      report.leftOut > 0 && `${report.leftOut} left out: they belong to other accounts`],
  ];
  return [el("dl", {}, ...rows.flatMap(([name, ...texts]) => [
    el("dt", {}, name), el("dd", {}, ...texts.filter(Boolean).map((text) => el("div", {}, text))),
  ]))];
}

/**
 * @param {any} error
 * @returns {Node[]}
 */
function refusalOf(error) {
  if (error instanceof Choice) return [el("p", {}, error.message)];
  if (!(error instanceof Fault)) return [el("p", {}, `The check could not be made: ${error.message}`)];
  const values = [["Expected", error.expected], ["Found", error.found]].filter(([, value]) => value !== null);
  return [
    el("p", {}, `DOES NOT HOLD: ${error.message}`),
    el("dl", {}, ...values.flatMap(([name, value]) => [
      el("dt", {}, String(name)), el("dd", { class: "bytes" }, value),
    ])),
    el("p", {}, "Keep the bundle as it is, and tell the one who gave it to you and the operator of the log."),
  ];
}

const main = globalThis.document?.getElementById("main");
if (main) show(main);
