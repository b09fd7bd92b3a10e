// The end of a session: a warning before it, and a way on after it that keeps what was typed.

import { el } from "../lib/el.mjs";
import { hush, say, warn } from "./frame.mjs";
import { timeText } from "./format.mjs";

const warningSeconds = 120;

/**
 * Watches the session.
 *
 * @param {import("./session.mjs").ConsoleApi} api
 * @param {{signInAddress: () => string}} ways
 */
export function watch(api, { signInAddress }) {
  /** @type {number | undefined} */
  let timer;
  let isOver = false;
  let isWarned = false;

  function plan() {
    const { staff, idle_seconds, expires_at } = api.session;
    clearTimeout(timer);
    if (!staff) return;
    if (isWarned) hush();
    isWarned = false;
    const last = new Date(expires_at).getTime();
    const end = Math.min(Date.now() + idle_seconds * 1000, last);
    timer = setTimeout(() => warnBefore(end, end === last), Math.max(0, end - Date.now() - warningSeconds * 1000));
  }

  function warnBefore(end, isLast) {
    isWarned = true;
    const at = timeText(new Date(end).toISOString(), "clock");
    const stay = el("button", { type: "button", onclick: () => keep().catch(() => check()) }, "Stay signed in");
    const again = el("a", { href: signInAddress(), target: "_blank", rel: "noopener" }, "Sign in again in another tab");
    warn(`Your session ends at ${at}${isLast ? "" : ", unless you go on"}.`, el("p", {}, isLast ? again : stay));
    timer = setTimeout(check, Math.max(0, end - Date.now() + 1_000));
  }

  /** A request that changes nothing and is a use of the session. */
  async function keep() {
    await api.call("POST", "console/role", { role: api.session.staff.role });
    say("You stay signed in.");
  }

  /** Asks whether the session is still there. */
  async function check() {
    const { staff } = api.session;
    const session = await api.begin().catch(() => null);
    if (!session) return;
    if (!session.staff) {
      api.session = { ...session, staff };
      over();
    } else if (session.staff.id !== staff?.id || session.staff.role !== staff?.role) {
      location.reload();
    } else if (isOver) {
      isOver = false;
      plan();
      hush();
      say("You are signed in again.");
    } else {
      plan();
    }
  }

  function over() {
    clearTimeout(timer);
    isOver = true;
    document.dispatchEvent(new Event("session-over"));
    warn("Your session is over. Sign in again in another tab: what you have typed stays on this page.",
      el("p", { class: "actions" },
        el("a", { class: "button", href: signInAddress(), target: "_blank", rel: "noopener" }, "Sign in"),
        el("button", { type: "button", onclick: check }, "I have signed in")));
  }

  api.onuse = plan;
  api.onover = over;
  addEventListener("focus", () => { if (isOver) check(); });
  return {
    isOver: () => isOver,
    /** Stops the watch, until the next request. */
    pause: () => clearTimeout(timer),
  };
}
