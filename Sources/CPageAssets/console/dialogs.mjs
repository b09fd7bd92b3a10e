// Questions of the console, in native dialogs, and the fields of what is typed with a change, by the rules of the API.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";

const reasonCharactersMax = 255;
const caseCharactersMax = 128;
const noteBytesMax = 1_000;

/**
 * A fault of a reason; an empty text without one.
 *
 * @param {string} text
 */
export function reasonFault(text) {
  const reason = text.trim();
  if (!/[^\p{Cf}\p{Zs}\p{Default_Ignorable_Code_Point}]/u.test(reason)) return "Enter a reason";
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Bidi_Control}]/u.test(reason)) return hasControl("reason");
  const size = [...reason].length;
  return size > reasonCharactersMax ? tooLong("reason", size, `${reasonCharactersMax} characters`) : "";
}

/**
 * A fault of a case; an empty text without one.
 *
 * @param {string} text
 */
export function caseFault(text) {
  const reference = text.trim();
  if (!/^[\x20-\x7e]*$/.test(reference)) return "The case may have letters without accents, digits, spaces and the signs of ASCII alone";
  return reference.length > caseCharactersMax ? tooLong("case", reference.length, `${caseCharactersMax} characters`) : "";
}

/**
 * A fault of a note; an empty text without one.
 *
 * @param {string} text
 */
export function noteFault(text) {
  const note = text.trim();
  if (/\p{Cc}/u.test(note)) return hasControl("note");
  const size = new TextEncoder().encode(note).length;
  return size > noteBytesMax ? tooLong("note", size, `${noteBytesMax} bytes; a character that is not in ASCII has two to four`) : "";
}

const hasControl = (/** @type {string} */ kind) =>
  `The ${kind} has a control character, such as a tabulator that was pasted. Type it without`;

const tooLong = (/** @type {string} */ kind, /** @type {number} */ size, /** @type {string} */ most) =>
  `The ${kind} is too long: ${size} of at most ${most}`;

/** The field of a reason. */
export function reasonField(value = "", properties = {}) {
  return field("Reason", { autocomplete: "off", value, ...properties }, "It is recorded: a case number rather than a name.", reasonFault);
}

/** The field of a case. Nothing cuts off what is pasted: a part of a number is another one. */
export function caseField(value = "") {
  return field("Case", { autocomplete: "off", value }, "For example the number of a ticket.", caseFault);
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
    const reason = reasonField(value, { autofocus: true });
    const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-labelledby": "reason-title" },
      el("h2", { id: "reason-title" }, title),
      ...texts.map((text) => el("p", {}, text)),
      form({
        fields: [reason], submit: confirm, missing: "Enter a reason",
        onsubmit: () => dialog.close("confirm"),
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
