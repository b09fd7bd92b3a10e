// Ids, times and numbers as the console shows them.

import { el, svg } from "../lib/el.mjs";

const clockKey = "console-clock";
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The clock of the times: `utc` or `local`. */
export let clock = "utc";

/** Reads the choice of the clock from the browser. */
export function restoreClock() {
  clock = localStorage.getItem(clockKey) === "local" ? "local" : "utc";
}

/** Changes the clock, also of the times that are shown. */
export function setClock(value) {
  clock = value;
  localStorage.setItem(clockKey, value);
  for (const node of document.querySelectorAll("time[data-form]")) {
    node.textContent = timeText(node.getAttribute("datetime") ?? "", node.getAttribute("data-form") ?? "full");
  }
  document.dispatchEvent(new Event("console-clock"));
}

/**
 * A time as a text, which names its clock.
 *
 * @param {string} text a time of the API
 * @param {string} form `full`, `exact` with all decimals, `day`, `clock` without the day, or `near` without seconds
 */
export function timeText(text, form = "full", of = clock) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  const local = of === "local";
  const number = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const day = local ? `${date.getDate()} ${months[date.getMonth()]} ${date.getFullYear()}`
    : `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  const zone = local ? zoneOf(date) : "UTC";
  if (form === "day") return `${day} ${zone}`;
  const [hours, minutes, seconds] = local ? [date.getHours(), date.getMinutes(), date.getSeconds()]
    : [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
  const decimals = form === "exact" ? (/\.(\d+)/.exec(text)?.[0] ?? "") : "";
  const hour = `${number(hours)}:${number(minutes)}${form === "near" ? "" : `:${number(seconds)}${decimals}`} ${zone}`;
  return form === "clock" ? hour : `${day} ${hour}`;
}

/** The offset of the browser's clock, such as `UTC+02:00`. */
function zoneOf(date) {
  const offset = -date.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `UTC${offset < 0 ? "−" : "+"}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
}

/**
 * A time in the clock of the switch.
 *
 * @param {string} text
 * @param {string} form as in `timeText`
 */
export function time(text, form = "full") {
  return el("time", { datetime: text, "data-form": form, title: `${timeText(text, "exact", "utc")}` }, timeText(text, form));
}

/** The day of a time in the clock of the switch, for headings. */
export function dayOf(text) {
  return timeText(text, "day");
}

/** How long ago a time was, in words. */
export function ago(text, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - new Date(text).getTime()) / 1000));
  const units = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
  for (const [unit, size] of /** @type {[string, number][]} */ (units)) {
    const count = Math.floor(seconds / size);
    if (count > 0) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "less than a minute ago";
}

/** Whether a text is a UUID. */
export function isID(text) {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** An id in eight and four characters; other texts whole. */
export function shortID(text) {
  return isID(text) ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}

/**
 * An id in short, with a button that copies it whole.
 *
 * @param {string} text
 */
export function id(text) {
  const said = el("span", { class: "said quiet", role: "status" });
  const button = el("button", {
    type: "button", class: "copy", "aria-label": `Copy ${shortID(text)}`, title: "Copy",
    onclick: async () => {
      said.textContent = "";
      const isCopied = await copy(text);
      said.textContent = isCopied ? "Copied" : `Not copied: ${text}`;
    },
  }, svg("svg", { viewBox: "0 0 16 16", width: "1em", height: "1em", "aria-hidden": "true", fill: "none", stroke: "currentColor" },
    svg("rect", { x: 5, y: 5, width: 9, height: 9, rx: 1 }), svg("path", { d: "M11 5V3a1 1 0 0 0-1-1H3a1 1 0 0 0-1 1v7a1 1 0 0 0 1 1h2" })));
  return el("span", { class: "id", "data-id": text }, el("code", { title: text }, shortID(text)), button, said);
}

/** Copies a text; says whether the browser permits it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A number of things in words. */
export function count(number, one, many = `${one}s`) {
  return `${String(number)} ${String(number) === "1" ? one : many}`;
}

/** A list in words: `a`, `a and b`, `a, b and c`. */
export function list(texts, last = "and") {
  if (texts.length < 2) return texts.join("");
  return `${texts.slice(0, -1).join(", ")} ${last} ${texts[texts.length - 1]}`;
}
