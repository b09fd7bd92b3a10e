// The figures of the last days, and the states of the ledger's parts.

import { el } from "../lib/el.mjs";
import { chart, number } from "./charts.mjs";
import { id, time } from "./format.mjs";

const daysDefault = 30;
const choices = [7, 30, 90];
const figures = {
  events: "Events", accounts: "Accounts opened", sign_ins: "Sign-ins", links: "Links", unlinks: "Unlinks", conflicts: "Conflicts",
  refusals: "Refusals", merges: "Merges", erasures: "Erasures",
};
/** The names of the read models. */
const models = { user_providers: "Identities", account_audit: "Histories", conflicts: "Conflicts" };

/** @param {any} context */
export async function show(context) {
  const asked = Number(context.query.get("days"));
  const days = Number.isInteger(asked) && asked >= 1 && asked <= 90 ? asked : daysDefault;
  const overview = await context.api.call("GET", `v1/overview?days=${days}`);
  const behind = Number(overview.log_size) - Number(overview.counted);
  return [
    el("nav", { "aria-label": "Days" }, el("ul", { class: "tabs" }, ...choices.map((each) => {
      const link = context.link(`?days=${each}`, `${each} days`);
      if (each === days) link.setAttribute("aria-current", "page");
      return el("li", {}, link);
    }))),
    conflicts(context, overview.conflicts),
    el("h2", {}, "States"),
    states(overview),
    overview.webhooks.length > 0 && webhooks(overview.webhooks),
    el("h2", {}, `The last ${days} days, in UTC`),
    behind > 0 && el("p", { class: "quiet" }, `${number(behind)} of the newest events are not counted yet.`),
    el("div", { class: "columns" }, ...Object.entries(figures).map(([name, title]) =>
      chart(title, overview.days.map((each) => ({ day: each.day, value: Number(each[name]) }))))),
  ].filter(Boolean);
}

function conflicts(context, { open, reviewed, more }) {
  const text = `${number(open)}${more ? "+" : ""} open ${open === "1" ? "conflict" : "conflicts"}`;
  return el("p", {}, context.link("conflicts", text), `, ${number(reviewed)} of them looked at`);
}

function states({ log_size, access_log_size, checkpoint, projections, messages }) {
  const entries = [
    ["Log", el("span", {}, `${number(log_size)} events`)],
    ["Sealer", sealer(checkpoint, log_size)],
    ["Access log", el("span", {}, `${number(access_log_size)} lines`)],
    ...projections.map(({ name, lag, failure }) => [`Read model ${models[name] ?? name}`, state(
      failure ? `stopped at ${failure}` : lag === "0" ? "up to date" : `${number(lag)} events behind`, failure ? "bad" : lag === "0" ? "good" : "warn")]),
    ["Messages", el("span", {}, Object.entries(messages).map(([name, count]) => `${number(count)} ${name}`).join(", "))],
  ];
  return el("dl", { class: "pair" }, ...entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function sealer(checkpoint, logSize) {
  if (!checkpoint) return state("nothing is signed yet", "warn");
  const unsigned = Number(logSize) - Number(checkpoint.size);
  return el("span", {}, state(unsigned > 0 ? `${number(unsigned)} events are not signed yet` : "all events are signed", unsigned > 0 ? "warn" : "good"),
    " last ", time(checkpoint.signed_at), ` by ${checkpoint.origin}`);
}

function state(text, kind) {
  return el("span", { class: `chip text ${kind}` }, text);
}

function webhooks(endpoints) {
  const row = (each) => el("tr", {},
    el("th", { scope: "row" }, id(each.endpoint_id)), el("td", {}, each.disabled ? "disabled" : "enabled"),
    el("td", {}, number(each.lag)), el("td", {}, number(each.pending)),
    el("td", {}, each.dead_letters === "0" ? "0" : state(number(each.dead_letters), "bad")));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Webhooks" }, el("table", {},
    el("caption", {}, "Webhooks"),
    el("thead", {}, el("tr", {}, ...["Endpoint", "State", "Behind", "Waiting", "Dead letters"].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...endpoints.map(row))));
}
