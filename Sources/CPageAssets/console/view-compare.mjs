// The difference between two moments of an account.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { accountTabs, facts, mergedNote, readAccount, unknownAccount } from "./account-head.mjs";
import { count, id, shortID, time } from "./format.mjs";
import { momentOf, olderNote, readSteps, stepAt, stepText } from "./steps.mjs";
import { actorWords, refusalSentence, rowSentence, sentence, states } from "./words.mjs";

const eventsMax = 100;

/** @param {any} context */
export async function show(context) {
  context.setTitle(`Account ${shortID(context.params.id)} compared`);
  const [account, steps] = await Promise.all([readAccount(context), readSteps(context)]);
  if (!account || !steps) return unknownAccount(context);
  const head = [mergedNote(context, account), facts(context, account), accountTabs(context, "Compare")];
  if (!steps.rows.length) return [...head, el("p", {}, "The account has no events.")];
  return [...head, ...choices(context, steps.rows), steps.more && el("p", { class: "quiet" }, olderNote(steps.rows))];
}

function choices(context, rows) {
  const last = rows.length - 1;
  const moment = (/** @type {string} */ name, /** @type {string} */ usual) => {
    const asked = context.query.get(name);
    return (asked && momentOf(asked, "utc")) || usual;
  };
  let from = moment("from", rows[Math.max(last - 1, 0)].position);
  let to = moment("to", rows[last].position);
  let questions = 0;
  context.onleave(() => { questions += 1; });
  const result = el("div", { id: "difference" });
  const fault = el("p", { class: "error", id: "compare-error" });

  const select = (name, label, value, changed) => {
    const index = stepAt(rows, value);
    const isStep = index >= 0 && rows[index].position === value;
    const node = /** @type {HTMLSelectElement} */ (el("select", {
      id: name, "aria-describedby": "compare-error", onchange: () => changed(node.value),
    }, !isStep && el("option", { value, selected: true }, /^\d+$/.test(value) ? `#${value}` : value),
    ...[...rows].reverse().map((row) => el("option", { value: row.position, selected: isStep && row.position === value }, stepText(row)))));
    return { node, field: el("div", { class: "field" }, el("label", { for: name }, label), node) };
  };
  const first = select("from", "From", from, (value) => change(value, to));
  const second = select("to", "To", to, (value) => change(from, value));

  function change(newFrom, newTo) {
    [from, to] = [newFrom, newTo];
    first.node.value = from;
    second.node.value = to;
    context.setQuery({ from, to });
    ask({ isAsked: true });
  }

  async function ask({ isAsked = false } = {}) {
    questions += 1;
    const question = questions;
    context.warn("");
    const isReversed = stepAt(rows, from) > stepAt(rows, to);
    fault.textContent = isReversed ? "From is later than To. Swap them, or choose others." : "";
    for (const { node } of [first, second]) node.toggleAttribute("aria-invalid", false);
    if (isReversed) {
      first.node.setAttribute("aria-invalid", "true");
      result.replaceChildren();
      result.removeAttribute("aria-busy");
      return;
    }
    result.setAttribute("aria-busy", "true");
    try {
      const query = new URLSearchParams({ from, to, limit: String(eventsMax) });
      const answer = await readAccount(context, `/diff?${query}`);
      if (question !== questions) return;
      result.replaceChildren(...answer ? difference(context, answer, rows) : [el("p", {}, "The ledger has no such moments.")]);
      if (answer && isAsked) context.say(summary(answer));
    } catch (error) {
      if (question !== questions) return;
      if (!(error instanceof Refused)) throw error;
      result.replaceChildren();
      context.warn(refusalSentence(error), el("p", {}, el("button", { type: "button", onclick: () => ask() }, "Try again")));
    }
    result.removeAttribute("aria-busy");
  }

  ask();
  return [
    el("div", { class: "forms wide" }, first.field, second.field,
      el("div", { class: "field" }, el("button", { type: "button", onclick: () => change(to, from) }, "Swap"))),
    fault, result,
  ];
}

/** The links that both moments have, and that were not removed and made again. */
export function unchanged({ after, added_links }) {
  const added = new Set(added_links.map((link) => link.identity_id));
  return after.links.filter((link) => !added.has(link.identity_id));
}

/** A difference in a sentence. */
export function summary({ added_links, removed_links, events, more }) {
  if (!events.length) return "No events in between: nothing changed.";
  const number = more ? `More than ${events.length} events` : count(events.length, "event");
  const links = added_links.length + removed_links.length === 0 ? "the links did not change"
    : `${added_links.length} added, ${removed_links.length} removed`;
  return `${number} in between: ${links}.`;
}

function difference(context, answer, rows) {
  const { before, after, added_links, removed_links, events, more } = answer;
  const by = (/** @type {string} */ position) => {
    const row = rows.find((each) => each.position === position);
    return row ? ` ${actorWords(row.actor)}` : "";
  };
  return /** @type {Node[]} */ ([
    el("p", {}, summary(answer)),
    links(context, "Added", "+ ", "added", added_links, (link) => [` linked at #${link.position}${by(link.position)}, `, time(link.linked_at)]),
    links(context, "Removed", "− ", "removed", removed_links, (link) => [" had been linked at ", time(link.linked_at)]),
    links(context, "Unchanged", "", "", unchanged(answer), (link) => [" linked since ", time(link.linked_at)]),
    other(before, after, answer),
    el("h2", {}, `Events in between: ${more ? `more than ${events.length}` : events.length}`),
    events.length > 0 && el("ol", { class: "rows", "aria-label": "Events in between" }, ...events.map((event) => eventRow(context, event, rows))),
    more && el("p", {}, context.link(`accounts/${context.params.id}`, "All events of the account")),
  ].filter(Boolean));
}

function links(context, title, sign, tone, all, more) {
  return el("div", {}, el("h2", {}, title), all.length === 0 ? el("p", {}, "none")
    : el("ul", { class: "rows", "aria-label": title }, ...all.map((link) => el("li", {},
      el("b", { class: tone || null }, `${sign}${link.provider}`), " ", context.link(`identities/${link.identity_id}`, id(link.identity_id)),
      ...more(link)))));
}

/** What else differs, as before and after. */
function other(before, after, { opened_sessions, ended_sessions }) {
  const change = (name, one, two) => (one === two ? [] : [el("li", {}, `${name}: ${one}, then ${two}`)]);
  const items = [
    ...change("State", states[before.status] ?? before.status, states[after.status] ?? after.status),
    ...change("Second factors", before.second_factors.length, after.second_factors.length),
    ...change("Absorbed accounts", before.absorbed.length, after.absorbed.length),
    ...change("Legal holds", before.legal_holds.length, after.legal_holds.length),
    ...opened_sessions.length ? [el("li", {}, `Sessions opened: ${opened_sessions.length}`)] : [],
    ...ended_sessions.length ? [el("li", {}, `Sessions ended: ${ended_sessions.length}`)] : [],
  ];
  return items.length > 0 && el("div", {}, el("h2", {}, "Also"), el("ul", { "aria-label": "Also" }, ...items));
}

function eventRow(context, event, rows) {
  const row = rows.find((each) => each.position === event.position);
  const entry = event.entry ?? {};
  const text = row ? rowSentence(row) : sentence(entry);
  return el("li", {}, el("div", { class: "event" },
    time(row?.recorded_at ?? entry.recorded_at), el("span", { class: "what" }, text, " ",
      el("span", { class: "quiet" }, actorWords(row?.actor ?? entry.actor))),
    context.link(`events/${event.event_id}`, `#${event.position}`)));
}
