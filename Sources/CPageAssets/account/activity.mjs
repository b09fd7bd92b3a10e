// The recent activity of the account: what was done, when, and from where.

import { el } from "../lib/el.mjs";
import { button, nameOf, page, show } from "./page.mjs";
import { showAccount } from "./methods.mjs";

/** Shows the newest activity, with a button for older ones. */
export async function showActivity() {
  const { t } = page;
  const list = el("ul", { class: "methods", "aria-label": t.activity });
  const more = el("div", { class: "actions" });
  await load(list, more, null);
  show(t.activity, el("p", { class: "quiet" }, t.activityHint), list, more,
    el("div", { class: "actions" }, button(t.back, showAccount)));
}

async function load(list, more, before) {
  const { t, api } = page;
  const query = new URLSearchParams(before ? { before } : {});
  const { activity, next, more: hasMore } = await api.call("GET", `v1/account/activity?${query}`);
  const rows = activity.map(row);
  list.append(...rows);
  more.replaceChildren(...(hasMore ? [button(t.showOlder, () => load(list, more, next))] : []));
  if (before) rows[0]?.focus();
}

function row(event) {
  const { t } = page;
  const notes = [
    event.current_session && t.thisSession, event.new_device && t.newDevice, event.by === "support" && t.bySupport,
    event.client_ip,
  ].filter(Boolean);
  return el("li", { tabindex: -1 },
    el("div", { class: "what" },
      el("strong", {}, sentence(event)),
      el("time", { class: "quiet", datetime: event.at }, time(event.at)),
      notes.length > 0 && el("span", { class: "quiet" }, notes.join(", "))));
}

function sentence({ kind, provider, factor }) {
  const text = page.t.activityKinds[kind] ?? kind;
  if (typeof text === "string") return text;
  return text(provider ? nameOf(provider) : page.t.factors[factor] ?? "");
}

function time(text) {
  return new Intl.DateTimeFormat(page.language, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(text));
}
