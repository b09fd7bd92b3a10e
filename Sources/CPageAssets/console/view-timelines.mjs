// The events of the two accounts of a conflict in one order, the newest first.

import { el } from "../lib/el.mjs";
import { id, isID, shortID, time } from "./format.mjs";
import { actorWords, rowSentence } from "./words.mjs";

const rowsMax = 100;

/** @param {any} context */
export async function show(context) {
  const accounts = ["caller", "holder"].map((name) => context.query.get(name) ?? "");
  if (!accounts.every(isID)) return [el("p", {}, "The address lacks the ids of two accounts.")];
  const timelines = await Promise.all(accounts.map((account) =>
    context.api.call("GET", `v1/accounts/${account}/timeline?order=newest&limit=${rowsMax}`)));
  /** @type {Map<string, any>} an event that touches both is in both */
  const rows = new Map(timelines.flatMap(({ rows }) => rows.map((row) => [row.position, row])));
  const newest = [...rows.values()].sort((a, b) => Number(BigInt(b.position) - BigInt(a.position)));
  const names = ["tried", "has the identity"];
  return [
    el("dl", { class: "pair" }, ...accounts.flatMap((account, index) => [
      el("dt", {}, `Account that ${names[index]}`), el("dd", {}, context.link(`accounts/${account}`, id(account)),
        ` ${timelines[index].accounts.length > 1 ? "with the accounts merged with it" : ""}`),
    ])),
    el("ul", { class: "rows", "aria-label": "Events of both accounts" }, ...newest.map((row) => event(context, row, accounts))),
    timelines.some(({ more }) => more) && el("p", { class: "quiet" }, "Older events are in the timelines of the accounts."),
  ].filter(Boolean);
}

function event(context, row, accounts) {
  const subject = row.accounts[0].account;
  const side = ["tried", "has it"][accounts.indexOf(subject)];
  return el("li", { class: row.outcome === "refused" ? "refused" : null }, el("div", { class: "event" },
    time(row.recorded_at),
    el("span", { class: "what" }, `${shortID(subject)}${side ? ` (${side})` : ""} ${rowSentence(row)} `,
      el("span", { class: "quiet" }, actorWords(row.actor))),
    context.link(`events/${row.event_id}`, `#${row.position}`)));
}
