// An account at a moment of its past.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { Refused } from "../lib/api.mjs";
import { accountTabs, facts, mergedNote, readAccount, unknownAccount } from "./account-head.mjs";
import { clock, count, id, shortID, time, timeText } from "./format.mjs";
import { momentOf, olderNote, readSteps, stepAt } from "./steps.mjs";
import { refusalSentence, rowSentence, states } from "./words.mjs";

const debounceMilliseconds = 150;
const pageOfSteps = 10;

/** @param {any} context */
export async function show(context) {
  context.setTitle(`Account ${shortID(context.params.id)} as of a moment`);
  const [account, steps] = await Promise.all([readAccount(context), readSteps(context)]);
  if (!account || !steps) return unknownAccount(context);
  const head = [mergedNote(context, account), facts(context, account), accountTabs(context, "As of")];
  if (!steps.rows.length) return [...head, el("p", {}, "The account has no events.")];
  return [...head, ...slider(context, steps), steps.more && el("p", { class: "quiet" }, olderNote(steps.rows))];
}

function slider(context, { rows }) {
  const last = rows.length - 1;
  const asked = context.query.get("as_of");
  let moment = (asked && momentOf(asked, "utc")) || rows[last].position;
  let step = Math.max(stepAt(rows, moment), 0);
  /** Counts the questions: answers to former ones are dropped. */
  let questions = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  context.onleave(() => {
    clearTimeout(timer);
    questions += 1;
  });

  const range = /** @type {HTMLInputElement} */ (el("input", {
    type: "range", id: "moment", min: 0, max: last, step: 1, value: step, "aria-describedby": "moment-hint",
    oninput: () => choose(Number(range.value)),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const move = { PageUp: pageOfSteps, PageDown: -pageOfSteps }[event.key];
      if (!move) return;
      event.preventDefault();
      choose(step + move);
    },
  }));
  const earlier = el("button", { type: "button", onclick: () => choose(step - 1) }, "Earlier");
  const later = el("button", { type: "button", onclick: () => choose(step + 1) }, "Later");
  const words = el("p", { id: "moment-words" });
  const result = el("div", { id: "moment-result" });
  const typed = field("Position or time", { autocomplete: "off", spellcheck: "false" },
    `Such as ${rows[last].position} or ${rows[last].recorded_at.slice(0, 16).replace("T", " ")}`);
  const typing = form({
    fields: [typed], submit: "Go to", missing: "Enter a position or a time",
    onsubmit: () => {
      const chosen = momentOf(typed.value, clock);
      if (!chosen) typed.fault("Enter a position, such as 18, or a time, such as 2026-11-21 23:17");
      else go(chosen, stepAt(rows, chosen));
    },
  });
  typing.classList.add("forms");

  function choose(wanted) {
    const chosen = Math.min(Math.max(wanted, 0), last);
    go(rows[chosen].position, chosen);
  }

  function go(chosen, index) {
    moment = chosen;
    step = Math.max(index, 0);
    draw(index);
    context.setQuery({ as_of: moment });
    clearTimeout(timer);
    questions += 1;
    result.setAttribute("aria-busy", "true");
    timer = setTimeout(ask, debounceMilliseconds);
  }

  function draw(index) {
    range.value = String(step);
    const row = rows[step];
    const text = index < 0 ? `Before #${row.position}, the first of these events`
      : `After #${row.position}, ${rowSentence(row)}, ${timeText(row.recorded_at, "exact")}`;
    range.setAttribute("aria-valuetext", text);
    words.replaceChildren(...index < 0 ? [text] : ["After ", context.link(`events/${row.event_id}`, `#${row.position}`),
      `, ${rowSentence(row)}, `, time(row.recorded_at, "exact")]);
    for (const [button, end] of /** @type {[HTMLElement, number][]} */ ([[earlier, 0], [later, last]])) {
      if (step === end) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }

  async function ask() {
    questions += 1;
    const question = questions;
    context.warn("");
    try {
      const then = await readAccount(context, `?as_of=${encodeURIComponent(moment)}`);
      if (question !== questions) return;
      result.replaceChildren(...then ? stateThen(context, then, rows, step) : [el("p", {}, "The ledger has no such moment yet.")]);
    } catch (error) {
      if (question !== questions) return;
      if (!(error instanceof Refused)) throw error;
      result.replaceChildren();
      context.warn(refusalSentence(error), el("p", {}, el("button", { type: "button", onclick: ask }, "Try again")));
    }
    result.removeAttribute("aria-busy");
  }

  const drawAgain = () => draw(stepAt(rows, moment));
  document.addEventListener("console-clock", drawAgain);
  context.onleave(() => document.removeEventListener("console-clock", drawAgain));
  draw(stepAt(rows, moment));
  ask();
  return [
    el("div", { class: "field slider" },
      el("label", { for: "moment" }, "Moment"),
      range,
      el("p", { class: "quiet", id: "moment-hint" },
        `${count(rows.length, "event")} of the account, between which nothing changes. Arrows: one event; Page keys: ten.`),
      el("div", { class: "actions" }, earlier, later)),
    words, typing, result,
  ];
}

/** What an account was at a moment. */
function stateThen(context, then, rows, step) {
  const last = rows[rows.length - 1];
  return /** @type {Node[]} */ ([
    el("h2", {}, "Linked at this moment"),
    then.links.length ? el("ul", { class: "rows", "aria-label": "Linked at this moment" }, ...then.links.map((link) =>
      el("li", {}, el("b", {}, link.provider), " ", context.link(`identities/${link.identity_id}`, id(link.identity_id)),
        " since ", link.position === rows[step]?.position ? "this event, " : "", time(link.linked_at))))
      : el("p", {}, "Nothing was linked at this moment."),
    el("ul", { class: "facts", "aria-label": "State at this moment" },
      el("li", {}, "Account ", id(then.account)),
      el("li", {}, el("span", { class: `chip ${then.status === "open" ? "good" : "warn"}` }, states[then.status] ?? then.status)),
      el("li", {}, count(then.event_count, "event")), el("li", {}, count(then.session_count, "session")),
      el("li", {}, count(then.second_factors.length, "second factor")),
      then.legal_holds.length > 0 && el("li", {}, count(then.legal_holds.length, "legal hold"))),
    then.absorbed.length > 0 && el("p", {}, "It had absorbed ", ...then.absorbed.flatMap((each, index) =>
      [index ? ", " : "", context.link(`accounts/${each}`, id(each))])),
    el("p", {}, context.link(`accounts/${context.params.id}/compare?${new URLSearchParams({
      from: rows[step].position, to: last.position })}`, "Compare with now")),
  ].filter(Boolean));
}

