// Questions of the console, in native dialogs.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";

/** The most bytes of a reason that the API takes. */
export const reasonBytesMax = 255;

/**
 * A fault of a reason; an empty text without one.
 *
 * @param {string} text
 */
export function reasonFault(text) {
  const reason = text.trim();
  if (!reason) return "Enter a reason";
  const size = new TextEncoder().encode(reason).length;
  return size > reasonBytesMax ? `The reason is too long: ${size} of at most ${reasonBytesMax} bytes` : "";
}

/**
 * The header of a reason: as it is in ASCII, else as RFC 8187 has it.
 *
 * @param {string} text
 * @returns {Record<string, string>}
 */
export function reasonHeader(text) {
  const reason = text.trim();
  if (/^[\x20-\x7e]*$/.test(reason) && !reason.startsWith("UTF-8''")) return { "Ledger-Reason": reason };
  const escape = (/** @type {string} */ mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return { "Ledger-Reason": `UTF-8''${encodeURIComponent(reason).replace(/[!'()*]/g, escape)}` };
}

/**
 * Asks for a reason.
 *
 * @param {{title: string, texts?: string[], confirm: string, value?: string}} question
 * @returns {Promise<string | null>} null when it was cancelled
 */
export function confirmWithReason({ title, texts = [], confirm, value = "" }) {
  return new Promise((resolve) => {
    const reason = field("Reason", { autocomplete: "off", value, autofocus: true },
      "It is recorded: a case number rather than a name.");
    const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-labelledby": "reason-title" },
      el("h2", { id: "reason-title" }, title),
      ...texts.map((text) => el("p", {}, text)),
      form({
        fields: [reason], submit: confirm, missing: "Enter a reason",
        onsubmit: () => {
          const fault = reasonFault(reason.value);
          if (fault) reason.fault(fault);
          else dialog.close("confirm");
        },
        more: [el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")],
      })));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "confirm" ? reason.value.trim() : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
