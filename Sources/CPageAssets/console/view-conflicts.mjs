// The queue of conflicts: claims to identities that were refused, and how they ended.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { noteFault } from "./dialogs.mjs";
import { once } from "./repair-steps.mjs";
import { id, time } from "./format.mjs";

const pageSize = 50;
const states = { open: "Open", resolved: "Resolved", all: "All" };
const empty = { open: "No open conflicts.", resolved: "No resolved conflicts.", all: "No conflicts." };
const ends = {
  ProviderUnlinked: "an unlink", ProviderLinked: "a link", AccountsMerged: "a merge", AccountsUnmerged: "an undone merge",
  AccountErased: "an erasure",
};

/** @param {any} context */
export async function show(context) {
  const asked = context.query.get("state") ?? "open";
  const state = Object.hasOwn(states, asked) ? asked : "open";
  const account = context.query.get("account");
  const [counts, first] = await Promise.all([
    account ? null : context.api.call("GET", "v1/conflicts/counts"), read(context, state, account),
  ]);
  if (counts) document.dispatchEvent(new CustomEvent("console-conflicts", { detail: counts }));
  const list = el("ul", { class: "rows", "aria-label": "Conflicts" });
  const more = el("div", {});
  const append = (answer) => {
    const known = list.childElementCount;
    list.append(...answer.conflicts.map((conflict) => row(context, conflict)));
    more.replaceChildren(...answer.more ? [loadOlder(answer.next)] : []);
    return list.children[known];
  };
  const loadOlder = (/** @type {string} */ before) => {
    const button = el("button", { type: "button" }, "Load older");
    button.addEventListener("click", () => once(context, button, async () => {
      const added = append(await read(context, state, account, before));
      /** @type {HTMLElement | null} */ (added?.querySelector("a"))?.focus();
    }));
    return button;
  };
  append(first);
  return [
    tabs(context, state, account, counts),
    account && el("p", {}, "Of account ", context.link(`accounts/${account}`, id(account)), ". ",
      context.link(`conflicts?state=${state}`, "Conflicts of all accounts")),
    lag(first.folded),
    first.conflicts.length === 0 && !first.more && el("p", {}, empty[state]),
    list, more,
  ].filter(Boolean);
}

function read(context, state, account, before) {
  const query = new URLSearchParams({ order: "newest", limit: String(pageSize) });
  if (state !== "all") query.set("state", state);
  if (account) query.set("account", account);
  if (before) query.set("before", before);
  return context.api.call("GET", `v1/conflicts?${query}`);
}

function tabs(context, state, account, counts) {
  const numbers = counts && { open: counts.open, resolved: counts.resolved, all: String(Number(counts.open) + Number(counts.resolved)) };
  const plus = counts?.more ? "+" : "";
  return el("nav", { "aria-label": "States of conflicts" }, el("ul", { class: "tabs" }, ...Object.entries(states).map(([name, text]) => {
    const query = new URLSearchParams({ state: name, ...(account && { account }) });
    const link = context.link(`conflicts?${query}`, numbers ? `${text} (${numbers[name]}${plus})` : text);
    if (name === state) link.setAttribute("aria-current", "page");
    return el("li", {}, link);
  })));
}

/** The progress of the read model, if it is behind the log. */
function lag({ size, log_size }) {
  return size !== log_size && el("p", { class: "quiet" }, `As of position ${size} of ${log_size}`);
}

function times(attempts) {
  if (attempts === "1") return "once";
  return attempts === "2" ? "twice" : `${attempts} times`;
}

function row(context, conflict) {
  const { caller, holder, state, provider, last_attempt, reason } = conflict;
  const why = reason === "held_by_other" ? "because another account has it" : `because the account has another identity of ${provider}`;
  const node = el("li", {});
  node.append(
    el("p", {}, el("b", {}, provider), ` was refused ${times(conflict.attempts)}, last `, time(last_attempt.recorded_at), `, ${why}`),
    el("p", {}, who(context, caller, state, "tried"), ...(holder ? [", ", who(context, holder, state, state === "open" ? "has it" : "had it")] : [])),
  );
  if (conflict.resolved_by) {
    const { type, recorded_at, event_id } = conflict.resolved_by;
    node.append(el("p", {}, "Ended by ", context.link(`events/${event_id}`, ends[type] ?? type), " at ", time(recorded_at)));
  }
  const actions = el("p", { class: "actions" });
  const mayRepair = context.staff.role === "support" || context.staff.role === "admin";
  const other = holder && holder.now && holder.now !== caller.now ? holder.now : null;
  if (mayRepair && state === "open" && other && caller.now) {
    actions.append(context.link(`accounts/${caller.now}/merge?absorb=${other}`, "Merge the accounts"));
  }
  if (other && caller.now) {
    actions.append(context.link(`conflicts/timelines?${new URLSearchParams({ caller: caller.now, holder: other })}`, "Timeline of both"));
  } else if (caller.now) {
    actions.append(context.link(`accounts/${caller.now}`, "Timeline"));
  }
  node.append(actions, review(context, conflict, mayRepair));
  return node;
}

/** An account of a conflict: of an open one that of now, of an ended one that of the first attempt. */
function who(context, party, state, verb) {
  const account = (state === "open" ? party.now : party.then) ?? party.then ?? party.now;
  return el("span", {}, context.link(`accounts/${account}`, id(account)), ` ${verb}`);
}

/** The note that a conflict was looked at, and the form for it. */
function review(context, conflict, mayRepair) {
  const area = el("div", { class: "review" });
  const path = `v1/conflicts/${conflict.event_id}/review`;
  let note = conflict.review ?? null;
  const draw = () => {
    area.replaceChildren();
    // Auditors see no texts of notes.
    if (note) {
      area.append(el("p", {}, note.note ? `Looked at: ${note.note} ` : "Looked at ",
        el("span", { class: "quiet" }, "by ", by(note.by), ", ", time(note.at))));
    }
    if (!mayRepair) return;
    if (note) area.append(remove());
    else if (conflict.state === "open") area.append(write());
  };
  const remove = () => {
    const button = el("button", { type: "button" }, "Remove the note");
    button.addEventListener("click", () => once(context, button, async () => {
      await context.api.call("DELETE", path);
      note = null;
      draw();
      area.querySelector("summary")?.focus();
      context.say("The note was removed.");
    }));
    return button;
  };
  const write = () => {
    const text = field("Note", { autocomplete: "off" }, "Support and administrators read it. A further attempt makes it void.", noteFault);
    return el("details", {}, el("summary", {}, "Looked at, nothing to do"), form({
      fields: [text], submit: "Save the note", missing: "Enter a note.",
      onsubmit: (button) => once(context, button, async () => {
        const answer = await context.api.call("PUT", path, { note: text.value.trim() });
        note = answer.conflict.review;
        draw();
        area.querySelector("button")?.focus();
        context.say("The note was saved.");
      }),
    }));
  };
  draw();
  return area;
}

/** The author of a note: the name of its kind of principal, and its id. */
function by(author) {
  const [kind, key] = String(author ?? "").split(/:(.*)/s);
  const kinds = { staff: "staff", api_key: "API key", operator: "the operator" };
  return el("span", {}, kinds[kind] ?? kind, ...(key ? [" ", id(key)] : []));
}
