// The console's frame.

import { el } from "../lib/el.mjs";

const root = document.documentElement.dataset.root ?? "../";
const main = /** @type {HTMLElement} */ (document.querySelector("main"));

/** @param {Node[]} nodes */
function show(...nodes) {
  main.replaceChildren(...nodes);
  main.removeAttribute("aria-busy");
}

async function begin() {
  const answer = await fetch(`${root}console/session`, { cache: "no-store" });
  const session = await answer.json();
  if (session.staff === null) {
    const to = location.pathname.split("/console/").slice(1).join("/console/") + location.search;
    const address = `${root}console/sign-in?${new URLSearchParams({ to })}`;
    show(el("h1", {}, "Console"), el("p", {}, el("a", { href: address }, "Sign in")));
    return;
  }
  const { name, role, roles } = session.staff;
  const signOut = el("button", { type: "button" }, "Sign out");
  signOut.addEventListener("click", async () => {
    await fetch(`${root}console/sign-out`, {
      method: "POST", body: "{}",
      headers: { "Content-Type": "application/json", "Ledger-CSRF": session.csrf_token },
    });
    await begin();
  });
  const words = roles.length === 0
    ? `You are signed in as ${name}, but have no role here.` : `${name}, ${role ?? "no role chosen"}`;
  show(el("h1", {}, "Console"), el("p", {}, words), signOut);
}

addEventListener("pageshow", ({ persisted }) => {
  if (persisted) void begin();
});
addEventListener("pagehide", () => main.replaceChildren());
await begin();
