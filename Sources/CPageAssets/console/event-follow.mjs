// Follow: new events appear as the log grows. They wait while it is paused, or while text of the list is selected.

import { el } from "../lib/el.mjs";
import { count } from "./format.mjs";
import { explain } from "./repair-steps.mjs";
import { follow } from "./stream.mjs";

const waitingMax = 1_000;
const rowsMax = 2_000;
const streamed = ["type", "account", "provider", "outcome"];
const states = {
  connecting: "Connecting", open: "Following", waiting: "The connection is lost; trying again", hidden: "Resting while the tab is hidden",
  refused: "The server refuses to be followed",
};

const gaps = {
  start: "More events than a page came between the opening of this list and Follow: some of them may be missing here.",
  wait: `More than ${waitingMax} events waited: the oldest of them are missing here.`,
};

/**
 * The buttons of Follow, and what it says.
 *
 * @param {any} context
 * @param {{
 *   filters: Record<string, string>, rows: HTMLElement, newest: () => Promise<{hasGap: boolean}>, add: (events: any[]) => number,
 * }} list
 */
export function following(context, { filters, rows, newest, add }) {
  const said = el("span", { id: "follow-status", role: "status", class: "quiet" });
  const followButton = el("button", { type: "button", "aria-pressed": "false" }, "Follow");
  const pauseButton = el("button", { type: "button", "aria-pressed": "false", hidden: true }, "Pause");
  const gap = el("div", { role: "status" });
  const others = Object.keys(filters).filter((name) => !streamed.includes(name));
  /** @type {any[]} events that wait */
  let waiting = [];
  let state = "";
  let isPaused = false;
  let isLeft = false;
  /** @type {(() => void) | null} */
  let stop = null;

  const isSelecting = () => {
    const selection = document.getSelection();
    return Boolean(selection && !selection.isCollapsed && selection.containsNode(rows, true));
  };
  /** Events that are missing stay told until the list is read again. */
  const tellGap = (/** @type {string} */ text) => {
    if (gap.textContent?.includes(text)) return;
    gap.append(el("p", { class: "warning" }, `${text} `, el("button", { type: "button", onclick: () => context.refresh() }, "Read the list again")));
  };
  const say = () => {
    const held = isPaused ? "Paused" : isSelecting() ? "Waiting while text is selected" : "";
    const text = held || states[state] || "";
    said.textContent = waiting.length > 0 ? `${text}: ${count(waiting.length, "new event")}` : text;
  };
  const flush = () => {
    if (stop && !isPaused && !isSelecting() && waiting.length > 0) {
      add(waiting.reverse());
      waiting = [];
      while (rows.childElementCount > rowsMax) rows.lastElementChild?.remove();
    }
    if (stop) say();
  };
  const end = () => {
    stop?.();
    stop = null;
    waiting = [];
    document.removeEventListener("selectionchange", flush);
    followButton.setAttribute("aria-pressed", "false");
    pauseButton.hidden = true;
    said.textContent = "";
  };
  const begin = async () => {
    // The events since the list was read, and then those after them.
    const head = await context.api.call("GET", "v1/events?order=newest&limit=1");
    if (isLeft) return;
    const { hasGap } = await newest();
    if (isLeft) return;
    if (hasGap) tellGap(gaps.start);
    const query = new URLSearchParams(filters);
    document.addEventListener("selectionchange", flush);
    followButton.setAttribute("aria-pressed", "true");
    isPaused = false;
    pauseButton.setAttribute("aria-pressed", "false");
    pauseButton.hidden = false;
    stop = follow({
      after: head.events[0]?.position ?? "0",
      address: (after) => `${context.root}v1/events/stream?${new URLSearchParams([...query, ["after", after]])}`,
      headers: () => ({ "Ledger-CSRF": context.api.session.csrf_token }),
      onmessage: ({ data }) => {
        waiting.push(JSON.parse(data));
        if (waiting.length > waitingMax) {
          waiting.shift();
          tellGap(gaps.wait);
        }
        flush();
      },
      onstate: (next, status) => {
        state = next;
        say();
        if (next !== "refused") return;
        if (status === 401) context.api.onover();
        add(waiting.reverse());
        end();
        said.textContent = states.refused;
      },
    });
  };

  let isStarting = false;
  followButton.addEventListener("click", async () => {
    if (stop) return end();
    if (isStarting || followButton.getAttribute("aria-disabled")) return undefined;
    isStarting = true;
    try {
      await begin();
    } catch (error) {
      explain(context, error);
    } finally {
      isStarting = false;
    }
    return undefined;
  });
  pauseButton.addEventListener("click", () => {
    isPaused = !isPaused;
    pauseButton.setAttribute("aria-pressed", String(isPaused));
    flush();
  });
  context.onleave(() => {
    isLeft = true;
    end();
  });
  if (others.length > 0) {
    followButton.setAttribute("aria-disabled", "true");
    said.textContent = `To follow, leave out: ${others.join(", ")}.`;
  }
  return [el("div", { class: "actions" }, followButton, pauseButton, said), gap];
}
