// The console's frame.

import { el } from "../lib/el.mjs";

const root = document.documentElement.dataset.root ?? "../";
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const answer = await fetch(`${root}console/session`);
const session = await answer.json();
const to = location.pathname.split("/console/").slice(1).join("/console/") + location.search;

if (session.staff === null) {
  main.append(
    el("h1", {}, "Console"),
    el("a", { href: `${root}console/sign-in?to=${encodeURIComponent(to)}` }, "Sign in"));
} else {
  main.append(el("h1", {}, "Console"), el("p", {}, `${session.staff.name}, ${session.staff.role}`));
}
main.removeAttribute("aria-busy");
