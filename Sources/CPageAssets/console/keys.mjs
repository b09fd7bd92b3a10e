// The keys of the console. They can be switched off, since they take single characters (WCAG 2.1.4).

import { el } from "../lib/el.mjs";

const offKey = "console-keys";
const sequenceMilliseconds = 1_500;
const help = [
  ["/", "Search"], ["g then c", "Conflicts"], ["j", "Next row"], ["k", "Row before"], ["?", "This list"],
];

const isOn = () => localStorage.getItem(offKey) !== "off";

/**
 * Begins to listen.
 *
 * @param {{go: (path: string) => void}} actions
 */
export function listen({ go }) {
  let goAt = 0;
  document.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || !isOn()) return;
    if (target.closest("input, select, textarea, dialog") || document.querySelector("dialog[open]")) return;
    const follows = event.timeStamp - goAt < sequenceMilliseconds;
    goAt = 0;
    if (event.key === "/") search(go);
    else if (event.key === "g") goAt = event.timeStamp;
    else if (event.key === "c" && follows) go("conflicts");
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?") showHelp();
    else return;
    event.preventDefault();
  });
}

function search(go) {
  const field = /** @type {HTMLElement | null} */ (document.querySelector("main input[name=query]"));
  if (field) field.focus();
  else go("search");
}

/** Moves the focus among the rows of the view. */
function move(step) {
  const rows = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main .rows > li:not(.band)"))];
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[now < 0 ? (step > 0 ? 0 : rows.length - 1) : now + step];
  if (!row) return;
  row.tabIndex = -1;
  row.focus();
}

/** Shows the keys, and the switch for them. */
export function showHelp() {
  const box = /** @type {HTMLInputElement} */ (el("input", {
    type: "checkbox", id: "keys-on", checked: isOn(),
    onchange: () => localStorage.setItem(offKey, box.checked ? "on" : "off"),
  }));
  const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", { class: "keys" }, ...help.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])),
    el("p", {}, el("label", { class: "choice", for: "keys-on" }, box, "Use these keys")),
    el("div", { class: "actions" },
      el("button", { type: "button", class: "primary", autofocus: true, onclick: () => dialog.close() }, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
