// What surrounds every view: its address, the bar, messages and the keys.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { clock, setClock } from "./format.mjs";
import { refusalSentence } from "./words.mjs";

const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Announces what was done; an empty text removes it. */
export function say(text) {
  element("status").textContent = text;
}

/** Announces what was refused, with what can be done about it. */
export function warn(text, ...more) {
  element("alert").replaceChildren(...text ? [el("p", {}, text)] : [], ...more.filter(Boolean));
}

/** Removes the messages. */
export function hush() {
  element("status").replaceChildren();
  element("alert").replaceChildren();
}

/** Announces that a view is on its way, or is there. */
export function loading(text) {
  element("loading").textContent = text;
  if (text) element("main").setAttribute("aria-busy", "true");
  else element("main").removeAttribute("aria-busy");
}

/** Shows a view under its heading. */
export function showView(title, nodes) {
  const heading = el("h1", { tabindex: "-1" }, title);
  element("main").replaceChildren(heading, ...nodes.filter(Boolean));
  setTitle(title);
  return heading;
}

export function setTitle(title) {
  document.title = `${title}, AccountLedger`;
}

/** The nodes for a view that failed. */
export function failure(error, again) {
  if (!(error instanceof Refused)) console.error(error);
  const text = error instanceof Refused ? refusalSentence(error) : "This page failed. Reload it.";
  const request = error.requestId;
  return el("div", { class: "alert", role: "alert" },
    el("p", {}, text), request && el("p", { class: "quiet" }, `Request ${request}`),
    el("p", {}, el("button", { type: "button", onclick: again }, "Try again")));
}

/**
 * Draws the bar.
 *
 * @param {{session: any, link: (path: string, text: string) => Node, items: {path: string, title: string}[],
 *   signOut: (everywhere: boolean) => void, help: () => void, chooseTenant: (tenant: string) => void, chooseRole: (role: string) => void}} parts
 */
export function drawBar({ session, link, items, signOut, help, chooseTenant, chooseRole }) {
  const { staff, tenant, tenants = [] } = session;
  const bar = element("bar");
  const brand = link("", "AccountLedger");
  /** @type {HTMLElement} */ (brand).className = "brand";
  bar.replaceChildren(brand);
  if (!staff) return;
  bar.append(tenants.length > 1
    ? select("Tenant", tenants.map((each) => [each, each]), tenant, chooseTenant) : el("span", { class: "quiet" }, tenant));
  if (items.length) {
    bar.append(el("nav", { "aria-label": "Console" },
      el("ul", { class: "tabs", id: "nav" }, ...items.map(({ path, title }) => {
        const anchor = /** @type {HTMLElement} */ (link(path, title));
        anchor.dataset.path = path;
        return el("li", {}, anchor);
      }))));
  }
  bar.append(el("div", { class: "who" },
    el("span", {}, staff.roles.length > 1 && staff.role ? `${staff.name}, ` : `${staff.name}${staff.role ? `, ${staff.role}` : ""}`),
    staff.roles.length > 1 && staff.role
      && select("Role", staff.roles.map((each) => [each, each]), staff.role, chooseRole),
    select("Clock", [["utc", "UTC"], ["local", "Local time"]], clock, setClock),
    el("button", { type: "button", onclick: help }, "Keys"),
    el("button", { type: "button", onclick: () => signOut(false) }, "Sign out"),
    el("button", { type: "button", onclick: () => signOut(true) }, "Sign out everywhere")));
}

/** Shows the number of open conflicts in the bar. */
export function showConflicts({ open, more }) {
  const link = document.querySelector("#nav [data-path=conflicts]");
  if (link) link.textContent = open === "0" ? "Conflicts" : `Conflicts (${open}${more ? "+" : ""})`;
}

function select(label, options, value, choose) {
  const node = /** @type {HTMLSelectElement} */ (el("select", {
    "aria-label": label, onchange: () => choose(node.value),
  }, ...options.map(([name, text]) => el("option", { value: name, selected: name === value }, text))));
  return node;
}

/** Marks the part of the console that is shown. */
export function markNav(path) {
  for (const link of document.querySelectorAll("#nav a")) {
    if (new URL(/** @type {HTMLAnchorElement} */ (link).href).pathname === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// The keys can be switched off, since they take single characters (WCAG 2.1.4).
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

// The addresses of the console, below `console/`.

const all = ["auditor", "support", "admin"];
const repair = ["support", "admin"];

/**
 * `pattern` has `:names` for parameters. `nav` is the text in the bar, where the session has what it `needs`.
 *
 * @type {{pattern: string, module: string, title: string, roles: string[], nav?: string, needs?: string, params?: Record<string, string>}[]}
 */
export const routes = [
  { pattern: "", module: "view-overview.mjs", title: "Overview", roles: all, nav: "Overview" },
  { pattern: "overview", module: "view-overview.mjs", title: "Overview", roles: all },
  { pattern: "search", module: "view-search.mjs", title: "Search", roles: all, nav: "Search" },
  { pattern: "conflicts", module: "view-conflicts.mjs", title: "Conflicts", roles: all, nav: "Conflicts" },
  { pattern: "conflicts/timelines", module: "view-timelines.mjs", title: "Timeline of both accounts", roles: all },
  { pattern: "events", module: "view-events.mjs", title: "Events", roles: all, nav: "Events" },
  { pattern: "events/:event", module: "view-event.mjs", title: "Event", roles: all },
  { pattern: "log", module: "view-log.mjs", title: "Log", roles: all, nav: "Log" },
  { pattern: "access-log", module: "view-access-log.mjs", title: "Access log", roles: ["auditor", "admin"], nav: "Access log" },
  { pattern: "export", module: "view-export.mjs", title: "Export", roles: ["auditor", "admin"] },
  { pattern: "holds", module: "view-holds.mjs", title: "Legal holds", roles: repair, nav: "Legal holds" },
  { pattern: "erasures", module: "view-erasures.mjs", title: "Erasures to confirm", roles: ["admin"], nav: "Erasures", needs: "erase_needs_two" },
  { pattern: "accounts/:id", module: "view-account.mjs", title: "Account", roles: all },
  { pattern: "accounts/:id/as-of", module: "view-as-of.mjs", title: "As of", roles: all },
  { pattern: "accounts/:id/compare", module: "view-compare.mjs", title: "Compare", roles: all },
  { pattern: "accounts/:id/picture", module: "view-picture.mjs", title: "Picture", roles: all },
  { pattern: "accounts/:id/merge", module: "view-merge.mjs", title: "Merge accounts", roles: repair },
  { pattern: "accounts/:id/undo", module: "view-undo.mjs", title: "Undo a merge", roles: repair },
  { pattern: "accounts/:id/relink", module: "view-relink.mjs", title: "Link an identity again", roles: repair },
  { pattern: "accounts/:id/unlink", module: "view-unlink.mjs", title: "Unlink an identity", roles: repair },
  { pattern: "accounts/:id/factor", module: "view-factor.mjs", title: "Remove a second factor", roles: repair },
  { pattern: "accounts/:id/disable", module: "view-access.mjs", title: "Disable an account", roles: repair, params: { act: "disable" } },
  { pattern: "accounts/:id/enable", module: "view-access.mjs", title: "Enable an account", roles: repair, params: { act: "enable" } },
  {
    pattern: "accounts/:id/end-sessions", module: "view-access.mjs", title: "End all sessions", roles: repair,
    params: { act: "end-sessions" },
  },
  { pattern: "accounts/:id/hold", module: "view-hold.mjs", title: "Legal hold", roles: ["admin"] },
  { pattern: "accounts/:id/erase", module: "view-erase.mjs", title: "Erase an account", roles: ["admin"] },
  { pattern: "identities/:id", module: "view-owner.mjs", title: "Holders of an identity", roles: all },
];

/**
 * Finds the route of a path; null without one.
 *
 * @param {string} path below `console/`, without its query
 */
export function routeOf(path) {
  const parts = path.replace(/\/$/, "").split("/");
  for (const route of routes) {
    const wanted = route.pattern.split("/");
    if (wanted.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = { ...route.params };
    const fits = wanted.every((part, index) => {
      if (!part.startsWith(":")) return part === parts[index];
      params[part.slice(1)] = decode(parts[index]);
      return parts[index] !== "";
    });
    if (fits) return { route, params };
  }
  return null;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
