// The picture of an account: which account held which identity when, as a strip and as a table.

import { el, svg } from "../lib/el.mjs";
import { id, shortID, time } from "./format.mjs";
import { rowSentence } from "./words.mjs";

const labelWidth = 120;
const columnWidth = 68;
const laneHeight = 30;
const top = 26;
/** Events of a picture that change no link. */
const marks = {
  AccountsMerged: "merge", AccountsUnmerged: "undo", ConflictRejected: "conflict", AccountErased: "erased",
  AccountDisabled: "disabled", AccountEnabled: "enabled",
};

/**
 * What accounts held: a span for each time that an identity was linked to an account.
 *
 * @param {any[]} rows of a timeline, the oldest first
 * @returns {{columns: any[], lanes: {identity: string, provider: string,
 *   spans: {account: string, from: number | null, until: number | null, change: string}[]}[]}}
 *   numbers are those of columns; null for before the first row, or until now
 */
export function holdings(rows) {
  const columns = rows.filter((row) => marks[row.type] || row.accounts.some(({ before, after }) => before && !isSame(before, after)));
  /** @type {Map<string, any>} */
  const lanes = new Map();
  const lane = ({ identity_id, provider }) => {
    if (!lanes.has(identity_id)) lanes.set(identity_id, { identity: identity_id, provider, spans: [] });
    return lanes.get(identity_id);
  };
  const open = (link, account, from) => lane(link).spans.push({ account, from, until: null, change: "" });
  const openSpan = (link, account) => lane(link).spans.find((span) => span.account === account && span.until === null);
  columns.forEach((row, column) => {
    // What ends comes first, so that a move is two spans one after the other.
    for (const { account, before = [], after = [] } of row.accounts) {
      for (const link of before) {
        if (!openSpan(link, account)) open(link, account, null);
        if (after.some((each) => each.identity_id === link.identity_id)) continue;
        Object.assign(openSpan(link, account), { until: column, change: row.type });
      }
    }
    for (const { account, before = [], after = [] } of row.accounts) {
      for (const link of after) {
        if (!before.some((each) => each.identity_id === link.identity_id)) open(link, account, column);
      }
    }
  });
  return { columns, lanes: [...lanes.values()] };
}

function isSame(before, after) {
  const key = (links) => links.map((link) => link.identity_id).sort().join();
  return key(before) === key(after);
}

/** The accounts of a picture, in the order of their letters. */
export function partiesOf(lanes, first) {
  const others = new Set(lanes.flatMap((lane) => lane.spans.map((span) => span.account)));
  others.delete(first);
  return [first, ...others];
}

/** The letter of an account: A, B ... */
export function letter(index) {
  return index < 26 ? String.fromCharCode(65 + index) : `A${letter(index - 26)}`;
}

/**
 * Draws the strip.
 *
 * @param {string} title
 * @param {ReturnType<typeof holdings>} held
 * @param {string[]} parties
 */
export function strip(title, { columns, lanes }, parties) {
  const width = labelWidth + (columns.length + 1) * columnWidth;
  const height = top + lanes.length * laneHeight + 30;
  const x = (/** @type {number} */ column) => labelWidth + (column + 0.5) * columnWidth;
  const bottom = top + lanes.length * laneHeight;
  const shapes = [];
  columns.forEach((row, column) => {
    const mark = marks[row.type];
    shapes.push(svg("line", { x1: x(column), x2: x(column), y1: top - 6, y2: bottom, class: mark ? "mark" : "tick" }));
    shapes.push(text(x(column), bottom + 16, `#${row.position}`, "middle"));
    if (mark) shapes.push(text(x(column), top - 12, mark, "middle"));
  });
  lanes.forEach((lane, index) => {
    const y = top + (index + 0.5) * laneHeight;
    shapes.push(text(0, y + 4, lane.provider.length > 16 ? `${lane.provider.slice(0, 15)}…` : lane.provider, "start"));
    for (const span of lane.spans) {
      const party = parties.indexOf(span.account);
      const from = span.from === null ? labelWidth - 6 : x(span.from);
      const until = span.until === null ? width - 6 : x(span.until);
      const tone = `party${party % 4}`;
      shapes.push(svg("line", {
        x1: from, x2: until, y1: y, y2: y, class: `span ${tone}`, ...(party > 0 && { "stroke-dasharray": party > 1 ? "2 5" : "10 5" }),
      }));
      if (span.from !== null) shapes.push(svg("circle", { cx: from, cy: y, r: 5, class: `dot ${tone}` }));
      shapes.push(text(from + 8, y - 6, letter(party), "start"));
      if (span.until !== null && !moves(span.change)) {
        shapes.push(svg("path", { d: `M${until - 5} ${y - 5}l10 10m0-10l-10 10`, class: `end ${tone}` }));
      }
    }
  });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, scrollable` },
    svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title }, ...shapes));
}

const moves = (/** @type {string} */ type) => type === "AccountsMerged" || type === "AccountsUnmerged";

function text(x, y, content, anchor) {
  const node = svg("text", { x, y, "text-anchor": anchor });
  node.textContent = content;
  return node;
}

/** The accounts of the picture and their letters. */
export function legend(context, parties) {
  return el("ul", { class: "facts", "aria-label": "Accounts of the picture" }, ...parties.map((account, index) =>
    el("li", {}, el("b", { class: `party${index % 4}` }, letter(index)), " ", context.link(`accounts/${account}`, id(account)))));
}

/**
 * The same as a table.
 *
 * @param {any} context
 * @param {ReturnType<typeof holdings>} held
 * @param {string[]} parties
 */
export function table(context, { columns, lanes }, parties) {
  const moment = (/** @type {number | null} */ column, /** @type {string} */ without) => (column === null ? [without] : [
    context.link(`events/${columns[column].event_id}`, `#${columns[column].position}`), `, ${rowSentence(columns[column])}, `,
    time(columns[column].recorded_at)]);
  const rows = lanes.flatMap((lane) => lane.spans.map((span) => el("tr", {},
    el("th", { scope: "row" }, lane.provider, " ", context.link(`identities/${lane.identity}`, id(lane.identity))),
    el("td", {}, `${letter(parties.indexOf(span.account))}, ${shortID(span.account)}`),
    el("td", {}, ...moment(span.from, "before these events")), el("td", {}, ...moment(span.until, "now")))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table, scrollable" }, el("table", {},
    el("caption", {}, "Which account held which identity"),
    el("thead", {}, el("tr", {}, ...["Identity", "Account", "From", "Until"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows)));
}
