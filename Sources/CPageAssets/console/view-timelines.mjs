// The timelines of both accounts of a conflict, beside each other.

import { el } from "../lib/el.mjs";
import { id } from "./format.mjs";
import { beginsDay, completenessNode, mergedAt, timelineRow } from "./timeline.mjs";

const limit = 50;

/** @param {any} context */
export async function show(context) {
  const [caller, holder] = ["caller", "holder"].map((name) => context.query.get(name) ?? "");
  if (!caller || !holder) return [el("p", {}, "Choose a conflict. ", context.link("conflicts", "Conflicts"))];
  const columns = await Promise.all([["Tried to link", caller], ["Had the identity", holder]].map(([title, key]) =>
    column(context, title, key)));
  return [
    context.staff.role !== "auditor"
      && el("p", {}, context.link(`accounts/${caller}/merge?absorb=${holder}`, "Merge the accounts")),
    el("div", { class: "columns" }, ...columns),
  ];
}

async function column(context, title, key) {
  const path = `v1/accounts/${encodeURIComponent(key)}`;
  const [account, page] = [await context.api.call("GET", path),
    await context.api.call("GET", `${path}/timeline?order=newest&limit=${limit}`)];
  const merged = mergedAt(page.rows, { isNewestFirst: true, absorbed: account.absorbed });
  return el("section", { "aria-label": title },
    el("h2", {}, title, " ", context.link(`accounts/${key}`, id(key))),
    completenessNode(page.completeness),
    el("ol", { class: "rows", "aria-label": `Timeline: ${title}` }, ...page.rows.map((row, index) => timelineRow(context, row, {
      account, accounts: page.accounts, merged: merged[index], day: beginsDay(row, page.rows[index - 1]),
    }))),
    page.more && el("p", {}, context.link(`accounts/${key}`, "All events")));
}
