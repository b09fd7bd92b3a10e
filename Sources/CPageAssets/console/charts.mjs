// Charts of figures by day, each with its table for those who don't see it.

import { el, svg } from "../lib/el.mjs";

const height = 60;
const step = 10;
const gap = 2;

/**
 * Draws figures as bars, one a day.
 *
 * @param {string} title
 * @param {{day: string, value: number}[]} days the oldest first
 */
export function chart(title, days) {
  const total = days.reduce((sum, { value }) => sum + value, 0);
  const largest = Math.max(0, ...days.map(({ value }) => value));
  const peak = days.find(({ value }) => value === largest)?.day;
  const summary = largest === 0 ? `${title}: none` : `${title}: ${number(total)} in ${days.length} days, at most ${number(largest)} on ${peak}`;
  const bars = days.map(({ value }, index) => {
    const size = largest === 0 ? 0 : Math.max(value === 0 ? 0 : 1, Math.round(value / largest * height));
    return svg("rect", { x: index * step, y: height - size, width: step - gap, height: size, fill: "currentColor" });
  });
  const width = Math.max(1, days.length) * step;
  const picture = svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height + 1}`, preserveAspectRatio: "none", width: "100%", height: height + 1,
    role: "img", "aria-label": summary,
  }, ...bars, svg("rect", { x: 0, y: height, width, height: 1, fill: "currentColor" }));
  return el("figure", { class: "figure" },
    el("figcaption", {}, el("h3", {}, title), el("p", {}, el("b", {}, number(total)), ` in ${days.length} days, at most ${number(largest)} a day`)),
    picture,
    days.length > 0 && el("p", { class: "quiet" }, `${days[0].day} to ${days[days.length - 1].day}`),
    el("details", {}, el("summary", {}, `${title} as a table`), table(title, days)));
}

function table(title, days) {
  return el("table", {}, el("caption", {}, title),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Day"), el("th", { scope: "col" }, title))),
    el("tbody", {}, ...days.map(({ day, value }) => el("tr", {}, el("th", { scope: "row" }, day), el("td", {}, number(value))))));
}

/** A number with groups of thousands. */
export function number(value) {
  return Number(value).toLocaleString("en");
}
