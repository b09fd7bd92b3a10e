// What surrounds every view: the bar, messages, and the keys.

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
      el("ul", { class: "tabs", id: "nav" }, ...items.map(({ path, title }) => el("li", {}, link(path, title))))));
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
