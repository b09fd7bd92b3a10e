// Questions in a native dialog: Escape cancels, as does the button that has the focus, which then goes back to where it was.

import { el } from "./el.mjs";

/**
 * Asks a question.
 *
 * @param {{title: string, texts: string[], confirm: string, cancel: string}} question
 * @returns {Promise<boolean>} whether it was confirmed
 */
export function ask({ title, texts, confirm, cancel }) {
  return new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (el(
      "dialog", { "aria-labelledby": "dialog-title" },
      el("h2", { id: "dialog-title" }, title),
      ...texts.map((text) => el("p", {}, text)),
      el("div", { class: "actions" },
        el("button", { type: "button", class: "primary", onclick: () => dialog.close("confirm") }, confirm),
        el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, cancel)),
    ));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "confirm");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
