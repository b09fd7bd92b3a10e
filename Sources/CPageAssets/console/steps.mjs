// The steps of an account's past: its own events, between which nothing changes.

import { count, timeText } from "./format.mjs";
import { rowSentence } from "./words.mjs";
import { readAccount } from "./account-head.mjs";

const pageSize = 1_000;

/**
 * Reads the events of an account, the oldest first.
 *
 * @param {any} context
 * @returns {Promise<{rows: any[], more: boolean, next: string | null, timeline: any} | null>} null for an unknown account
 */
export async function readSteps(context, before = "") {
  const query = new URLSearchParams({ order: "newest", limit: String(pageSize), ...(before && { before }) });
  const timeline = await readAccount(context, `/timeline?${query}`);
  if (!timeline) return null;
  const own = timeline.account;
  return {
    rows: timeline.rows.filter(({ accounts }) => accounts.some(({ account }) => account === own)).reverse(),
    more: timeline.more, next: timeline.next ?? null, timeline,
  };
}

/** A step as a text: its position, sentence and time. */
export function stepText(row, form = "full") {
  return `#${row.position}, ${rowSentence(row)}, ${timeText(row.recorded_at, form)}`;
}

/**
 * The step at a moment: the last one that had happened.
 *
 * @param {any[]} rows the oldest first
 * @param {string} moment a position or a time of the API
 * @returns {number} -1 before the first step
 */
export function stepAt(rows, moment) {
  const isPast = /^\d+$/.test(moment) ? (/** @type {any} */ row) => BigInt(row.position) <= BigInt(moment)
    : (/** @type {any} */ row) => micros(row.recorded_at) <= micros(moment);
  let index = -1;
  rows.forEach((row, each) => { if (isPast(row)) index = each; });
  return index;
}

/** The microseconds of a time, whose decimals a `Date` would lose. */
function micros(text) {
  const decimals = /\.(\d+)/.exec(text)?.[1] ?? "";
  return BigInt(Math.floor(new Date(text).getTime() / 1000)) * 1_000_000n + BigInt(decimals.padEnd(6, "0").slice(0, 6));
}

/**
 * A moment that was typed, as the API takes it; null for another text.
 *
 * @param {string} text a position, as `18` or `#18`, or a time: `2026-11-21 23:17:50`, of RFC 3339 or without a zone
 * @param {string} clock the one of times without a zone
 */
export function momentOf(text, clock) {
  const typed = text.trim();
  const position = /^#?(\d{1,18})$/.exec(typed);
  if (position) return position[1];
  const parts = /^(\d{4}-\d{2}-\d{2})[T ]?(\d{2}:\d{2})?(:\d{2})?(\.\d{1,6})?\s*(Z|UTC|[+-]\d{2}:\d{2})?$/i.exec(typed);
  if (!parts) return null;
  const [, day, minute = "00:00", second = ":00", decimals = "", zone] = parts;
  const isLocal = !zone && clock === "local";
  const date = new Date(`${day}T${minute}${second}${isLocal ? "" : zone && !/^(Z|UTC)$/i.test(zone) ? zone : "Z"}`);
  // 31 February is no day, and a `Date` makes one of it.
  if (Number.isNaN(date.getTime())) return null;
  const iso = date.toISOString();
  if (!isLocal && (!zone || /^(Z|UTC)$/i.test(zone)) && !iso.startsWith(day)) return null;
  return `${iso.slice(0, 19)}${decimals}Z`;
}

/** What a view says when not all steps were loaded. */
export function olderNote(rows) {
  return `Only the last ${count(rows.length, "event")} of the account are steps here. Enter a position or a time for earlier ones.`;
}
