// The console: its session, and the way from an address to a view.

import { el } from "../lib/el.mjs";
import {
  drawBar, failure, hush, listen, loading, markNav, routeOf, routes, say, setTitle, showConflicts, showHelp, showView, warn,
} from "./frame.mjs";
import { restoreClock } from "./format.mjs";
import { ConsoleApi, keptKey, showChoice, showNoRole, showSignIn, watch } from "./session.mjs";
import { forbiddenSentence, oneOf } from "./words.mjs";

const root = new URL(document.documentElement.dataset.root ?? "../", location.href).href;
const base = `${root}console/`;
const basePath = new URL(base).pathname;
const api = new ConsoleApi(root);
/** The number of the view: answers for former ones are dropped. */
let views = 0;
let shown = "";
/** @type {(() => void)[]} */
let leaving = [];
const guard = watch(api, { signInAddress: () => signIn() });

/** Forgets what was kept for the way to another sign-in. */
const forget = () => sessionStorage.removeItem(keptKey);

/** Shows the number of open conflicts, as a view has read it, or as it is after a change. */
document.addEventListener("console-conflicts", (event) => showConflicts(/** @type {CustomEvent} */ (event).detail));
document.addEventListener("console-changed", () => countConflicts());

restoreClock();
document.addEventListener("session-over", forget);
// Without a role there is no view to go to.
listen({ go: (path) => { if (api.session.staff?.role) go(path); } });
start();

/** How often, and after how long, the number is read again while the read model is behind the log. */
const [countsMax, countMilliseconds] = [3, 1_000];

/** Reads the number of open conflicts for the bar, which is complete without it. */
async function countConflicts(tries = countsMax) {
  try {
    const counts = await api.call("GET", "v1/conflicts/counts");
    showConflicts(counts);
    const isBehind = counts.folded.size !== counts.folded.log_size;
    if (isBehind && tries > 1) setTimeout(() => countConflicts(tries - 1), countMilliseconds);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** The path below the console, with its query. */
function here() {
  return location.pathname.slice(basePath.length) + location.search;
}

function signIn(to = here()) {
  return `${base}sign-in?${new URLSearchParams({ to })}`;
}

async function start() {
  const query = new URLSearchParams(location.search);
  const fault = query.get("sign_in");
  query.delete("sign_in");
  history.replaceState(null, "", `${location.pathname}?${query}`.replace(/\?$/, "") + location.hash);
  api.onwait = () => say("The server is busy. Waiting for it.");
  loading("Loading…");
  try {
    const session = await api.begin();
    draw(session);
    if (fault || !session.staff) forget();
    if (!session.staff) showSignIn(signIn(), fault);
    else if (session.staff.roles.length === 0) showNoRole(session.staff.name, signOut);
    else if (!session.staff.role) showChoice(session.staff.roles, chooseRole);
    else {
      countConflicts();
      await render({ isFirst: true });
    }
  } catch (error) {
    showView("Console", [failure(error, () => location.reload())]);
  }
  loading("");
}

function draw(session) {
  const role = session.staff?.role;
  const items = routes.filter((route) => route.nav && route.roles.includes(role) && (!route.needs || session[route.needs]))
    .map(({ pattern, nav }) => ({ path: pattern, title: nav ?? "" }));
  drawBar({ session, link, items, signOut, help: showHelp, chooseTenant, chooseRole });
}

async function render({ isFirst = false } = {}) {
  views += 1;
  const view = views;
  for (const leave of leaving.splice(0)) leave();
  if (!isFirst) hush();
  shown = here();
  const [path] = shown.split("?");
  const found = routeOf(path);
  markNav(basePath + path);
  const { staff, tenant } = api.session;
  // A former view may still be on its way.
  loading("");
  if (!found) {
    arrive(showView("Not found", [el("p", {}, "There is no page at this address. "), link("search", "Search")]), isFirst);
    return;
  }
  const { route, params } = found;
  if (!route.roles.includes(staff.role)) {
    arrive(showView(route.title, [
      el("p", {}, `${forbiddenSentence(route.roles)} You are signed in as ${staff.name}, ${oneOf[staff.role] ?? staff.role}.`),
    ]), isFirst);
    return;
  }
  loading(`Loading: ${route.title}`);
  api.beginAction();
  let title = route.title;
  const isShown = () => view === views;
  const context = {
    api, staff, tenant, params, root, query: new URLSearchParams(location.search), go, link,
    say: (/** @type {string} */ text) => { if (isShown()) say(text); },
    warn: (/** @type {string} */ text, /** @type {any[]} */ ...more) => {
      // The way on after the end of the session stays.
      if (isShown() && !guard.isOver()) warn(text, ...more);
    },
    onleave: (/** @type {() => void} */ leave) => { if (isShown()) leaving.push(leave); else leave(); },
    /** Changes the query of the address; the view stays. */
    setQuery(changes) {
      if (!isShown()) return;
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === "") context.query.delete(name);
        else context.query.set(name, String(value));
      }
      const text = String(context.query);
      history.replaceState(null, "", basePath + path + (text && `?${text}`));
      shown = here();
    },
    /** Changes the heading, for views of one thing. */
    setTitle(text) {
      title = text;
      const heading = isShown() && document.querySelector("main h1");
      if (heading && !document.getElementById("main")?.hasAttribute("aria-busy")) {
        heading.textContent = text;
        setTitle(text);
      }
    },
    /** Shows the view again, with new answers. */
    refresh: () => { if (isShown()) render(); },
  };
  let heading;
  try {
    const { show } = await import(`./${route.module}`);
    const nodes = await show(context);
    if (!isShown()) return;
    say("");
    heading = showView(title, nodes ?? []);
  } catch (error) {
    if (!isShown()) return;
    heading = showView(title, [failure(error, () => render())]);
  }
  loading("");
  arrive(heading, isFirst);
}

/** Puts the focus on the heading of a view that was navigated to. */
function arrive(heading, isFirst) {
  if (isFirst) return;
  scrollTo(0, 0);
  heading.focus();
}

/** Opens a view. */
function go(path) {
  history.pushState(null, "", base + path);
  render();
}

/**
 * A link to a view.
 *
 * @param {string} path below the console
 * @param {string | Node} text of an id with its button, the id alone is the link
 */
function link(path, text) {
  const anchor = el("a", { href: base + path });
  if (text instanceof HTMLElement && text.classList.contains("id")) {
    const code = /** @type {HTMLElement} */ (text.querySelector("code"));
    code.replaceWith(anchor);
    anchor.append(code);
    return text;
  }
  anchor.append(text);
  return anchor;
}

async function signOut(everywhere = false) {
  await leaveBy(() => api.call("POST", "console/sign-out", { everywhere }),
    everywhere ? "You are signed out everywhere." : "You are signed out.");
}

async function chooseRole(role) {
  await leaveBy(() => api.call("POST", "console/role", { role }), "");
}

/** Changes the session, and begins again. */
async function leaveBy(change, text) {
  try {
    guard.pause();
    await change();
    document.dispatchEvent(new Event("session-over"));
    for (const leave of leaving.splice(0)) leave();
    views += 1;
    hush();
    document.getElementById("main")?.replaceChildren();
    await start();
    if (text) say(text);
  } catch (error) {
    // The way on after the end of the session stays.
    if (guard.isOver()) return;
    const again = el("p", {}, el("button", { type: "button", onclick: () => leaveBy(change, text) }, "Try again"));
    warn("The server did not do this.", again);
    const roles = /** @type {HTMLSelectElement | null} */ (document.querySelector("#bar [aria-label=Role]"));
    if (roles) roles.value = api.session.staff?.role ?? "";
    if (!(error instanceof Error)) throw error;
  }
}

function chooseTenant(tenant) {
  const own = `/t/${api.session.tenant}/`;
  const server = root.endsWith(own) ? root.slice(0, -own.length + 1) : root;
  location.assign(`${server}${tenant === "default" ? "" : `t/${tenant}/`}console/`);
}

addEventListener("popstate", () => {
  // A jump within the page keeps the view.
  if (here() !== shown && api.session.staff?.role) render();
});

document.addEventListener("click", (event) => {
  const anchor = /** @type {Element} */ (event.target).closest?.("a[href]");
  if (!(anchor instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || anchor.target || anchor.download) return;
  const path = anchor.href.startsWith(base) ? anchor.href.slice(base.length) : null;
  if (path === null || anchor.hash || /^(sign-in|callback|session)\b/.test(path) || !api.session.staff?.role) return;
  event.preventDefault();
  go(path);
});

// A page that comes out of the browser's memory, as by its back button, shows nothing before it has asked again.
addEventListener("pagehide", () => {
  for (const leave of leaving.splice(0)) leave();
  for (const id of ["bar", "main"]) document.getElementById(id)?.replaceChildren();
  hush();
  for (const each of document.querySelectorAll("dialog")) each.remove();
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
