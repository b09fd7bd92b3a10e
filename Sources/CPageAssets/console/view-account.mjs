// An account: its state, what belongs to it, and its timeline.

import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import { accountTabs, actions, facts, mergedNote, parts, readAccount, unknownAccount } from "./account-head.mjs";
import { confirmWithReason, reasonHeader } from "./dialogs.mjs";
import { askedNode, requestFor } from "./erasure-request.mjs";
import { count, shortID } from "./format.mjs";
import { beginsDay, completenessNode, kinds, mergedAt, timelineRow } from "./timeline.mjs";
import { refusalSentence } from "./words.mjs";

const pageSize = 100;
/** How long personal data are shown. */
const shownMinutes = 15;

/** @param {any} context */
export async function show(context) {
  const { id } = context.params;
  context.setTitle(`Account ${shortID(id)}`);
  const order = context.query.get("order") === "oldest" ? "oldest" : "newest";
  const [account, page, conflicts] = await Promise.all([
    readAccount(context), readAccount(context, timelinePath(order)), countConflicts(context),
  ]);
  if (!account || !page) return unknownAccount(context);
  const request = account.status === "erased" ? null : await requestFor(context, account.account);
  const asked = request && el("p", { class: "warning" }, "An erasure was ", askedNode(request), " ",
    context.link(`accounts/${account.account}/erase`, request.yours ? "Open the request" : "Confirm or withdraw the erasure…"));
  return [asked, ...new AccountView(context, account, page, order).nodes(conflicts)];
}

function timelinePath(order, cursor) {
  const query = new URLSearchParams({ limit: String(pageSize), ...(order === "newest" && { order }) });
  if (cursor) query.set(order === "newest" ? "before" : "after", cursor);
  return `/timeline?${query}`;
}

async function countConflicts(context) {
  const query = new URLSearchParams({ account: context.params.id, state: "open", order: "newest", limit: "100" });
  try {
    const { conflicts, more } = await context.api.call("GET", `v1/conflicts?${query}`);
    if (!conflicts.length) return more ? "conflicts" : "";
    return `${more ? "at least " : ""}${count(conflicts.length, "open conflict")}`;
  } catch (error) {
    // The account is shown without them.
    if (error instanceof Refused) return "";
    throw error;
  }
}

class AccountView {
  /** @type {{reason: string, account: any, rows: Map<string, any>} | null} the personal data that are shown */
  #disclosed = null;
  #rows;
  #page;
  #account;
  #context;
  /** The order of the page that is shown. */
  #order;
  /** The order that was asked for last. */
  #wanted;
  /** Counts the questions for a first page: answers to former ones are dropped. */
  #questions = 0;
  /** Counts the ends of what is shown, by another view or the end of the session: personal data from before are dropped. */
  #ends = 0;
  /** @type {HTMLSelectElement | null} */
  #orders = null;
  #parts = el("div", {});
  #personal = el("div", {});
  #list = el("ol", { class: "rows", "aria-label": "Timeline" });
  #empty = el("p", { class: "quiet" });
  #more = el("div", {});
  #proof = el("div", {});
  /** @type {HTMLButtonElement | null} */
  #showButton = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  constructor(context, account, page, order) {
    this.#context = context;
    this.#account = account;
    this.#page = page;
    this.#rows = page.rows;
    this.#order = order;
    this.#wanted = order;
    const end = () => {
      this.#ends += 1;
      this.#hide();
    };
    const draw = () => this.#draw();
    document.addEventListener("session-over", end);
    document.addEventListener("console-clock", draw);
    context.onleave(() => {
      end();
      document.removeEventListener("session-over", end);
      document.removeEventListener("console-clock", draw);
    });
  }

  nodes(conflicts) {
    const context = this.#context;
    const account = this.#account;
    const mayDisclose = context.staff.role !== "auditor" && account.status !== "erased";
    this.#showButton = mayDisclose
      ? /** @type {HTMLButtonElement} */ (el("button", { type: "button", onclick: () => this.#disclose() }, "Show personal data")) : null;
    this.#draw();
    return [
      mergedNote(context, account), facts(context, account, conflicts), accountTabs(context, "Timeline"),
      el("div", { class: "actions" }, ...this.#showButton ? [this.#showButton] : [], ...actions(context, account)),
      this.#personal, this.#parts,
      el("h2", {}, "Timeline"), this.#filters(), this.#proof, this.#list, this.#empty, this.#more,
    ];
  }

  #filters() {
    const context = this.#context;
    const choose = (name, options, value, changed) => {
      const select = /** @type {HTMLSelectElement} */ (el("select", {
        id: `filter-${name}`, onchange: () => changed(select.value),
      }, ...options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
      return select;
    };
    const labelled = (label, select) => el("div", { class: "field" }, el("label", { for: select.id }, label), select);
    this.#orders = choose("order", [["newest", "Newest first"], ["oldest", "Oldest first"]], this.#order,
      (order) => this.#reorder(order));
    return el("div", { class: "forms" },
      labelled("Filter", choose("kind", Object.entries(kinds).map(([key, [text]]) => [key, text]), this.#kind(), (kind) => {
        context.setQuery({ kind: kind === "all" ? null : kind });
        this.#draw();
      })),
      labelled("Order", this.#orders));
  }

  #kind() {
    const kind = this.#context.query.get("kind") ?? "all";
    return Object.hasOwn(kinds, kind) ? kind : "all";
  }

  #draw() {
    const context = this.#context;
    const account = this.#account;
    const [text, fits] = /** @type {[string, (type: string) => boolean]} */ (kinds[this.#kind()]);
    const merged = mergedAt(this.#rows, { isNewestFirst: this.#order === "newest", absorbed: account.absorbed });
    /** @type {any} */
    let before = null;
    const rows = this.#rows.flatMap((row, index) => {
      if (!fits(row.type)) return [];
      const node = timelineRow(context, row, {
        account, accounts: this.#page.accounts, merged: merged[index], day: beginsDay(row, before),
        disclosures: this.#disclosed?.rows.get(row.event_id),
      });
      before = row;
      return [node];
    });
    this.#list.replaceChildren(...rows);
    this.#list.hidden = rows.length === 0;
    const loaded = count(this.#rows.length, "event");
    this.#empty.textContent = rows.length === 0
      ? `Among the ${loaded} that are loaded, there is none of this kind: ${text}.`
      : rows.length < this.#rows.length ? `${rows.length} of the ${loaded} that are loaded.` : "";
    this.#proof.replaceChildren(completenessNode(this.#page.completeness));
    this.#more.replaceChildren(...this.#page.more ? [this.#moreButton()] : []);
    const emails = this.#disclosed
      && new Map(this.#disclosed.account.links.map((link) => [link.identity_id, link]));
    this.#parts.replaceChildren(...parts(context, this.#disclosed?.account ?? account, emails));
    this.#drawPersonal();
  }

  #moreButton() {
    const button = el("button", { type: "button" }, this.#order === "newest" ? "Load older" : "Load newer");
    const former = this.#page;
    // A page goes on from the one before it alone: meanwhile the order may be another one.
    const isCurrent = () => former === this.#page;
    button.addEventListener("click", () => this.#ask(button, async () => {
      const page = await this.#read(this.#order, former.next);
      if (!isCurrent()) return;
      const known = this.#list.childElementCount;
      this.#page = page;
      this.#rows = this.#rows.concat(page.rows);
      this.#draw();
      /** @type {HTMLElement | null} */ (this.#list.children[known]?.querySelector("a"))?.focus();
    }, isCurrent));
    return button;
  }

  async #reorder(order) {
    this.#wanted = order;
    const isCurrent = this.#question();
    await this.#ask(null, async () => {
      const page = await this.#read(order, undefined);
      if (isCurrent()) this.#take(page, order);
    }, isCurrent);
  }

  /** Begins a question for a first page; returns whether it is still the last one. */
  #question() {
    this.#questions += 1;
    const question = this.#questions;
    return () => question === this.#questions;
  }

  /** Shows a first page. */
  #take(page, order) {
    this.#page = page;
    this.#order = order;
    this.#wanted = order;
    if (this.#orders) this.#orders.value = order;
    this.#rows = page.rows;
    this.#context.setQuery({ order: order === "newest" ? null : order });
    this.#draw();
  }

  /** Reads a page, with personal data while they are shown. */
  async #read(order, cursor) {
    const shown = this.#disclosed;
    const path = `v1/accounts/${encodeURIComponent(this.#context.params.id)}${timelinePath(order, cursor)}${shown ? "&disclose=true" : ""}`;
    const page = await this.#context.api.call("GET", path, undefined, { headers: shown ? reasonHeader(shown.reason) : {} });
    this.#keep(page, shown);
    return page;
  }

  /** Takes the personal data out of the rows, which stay without them. */
  #keep(page, shown) {
    for (const row of page.rows) {
      if (row.disclosures && shown && shown === this.#disclosed) shown.rows.set(row.event_id, row.disclosures);
      delete row.disclosures;
    }
  }

  async #disclose() {
    const reason = await confirmWithReason({
      title: "Show personal data?", confirm: "Show",
      texts: ["E-mails, addresses of devices, and the reasons of repairs are shown. The access log records this with your name and reason."],
    });
    if (reason === null) return;
    const ends = this.#ends;
    const order = this.#wanted;
    const isCurrent = this.#question();
    await this.#ask(this.#showButton, async () => {
      const path = `v1/accounts/${encodeURIComponent(this.#context.params.id)}`;
      const headers = reasonHeader(reason);
      this.#context.api.beginAction();
      const [account, page] = await Promise.all([
        this.#context.api.call("GET", `${path}?disclose=true`, undefined, { headers }),
        this.#context.api.call("GET", `${path}${timelinePath(order)}&disclose=true`, undefined, { headers }),
      ]);
      if (ends !== this.#ends) return;
      this.#disclosed = { reason, account, rows: new Map() };
      this.#keep(page, this.#disclosed);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => {
        this.#hide();
        this.#context.say(`The personal data were hidden after ${shownMinutes} minutes.`);
      }, shownMinutes * 60_000);
      if (isCurrent()) this.#take(page, order);
      else await this.#reorder(this.#wanted);
      this.#context.say("Personal data are shown.");
    });
  }

  #hide() {
    clearTimeout(this.#timer);
    if (!this.#disclosed) return;
    this.#disclosed = null;
    this.#draw();
  }

  #drawPersonal() {
    const shown = this.#disclosed;
    if (!this.#showButton) return;
    const hadFocus = [this.#showButton, this.#personal].some((node) => node.contains(document.activeElement));
    this.#showButton.toggleAttribute("hidden", Boolean(shown));
    this.#personal.replaceChildren(...shown ? [el("p", { class: "warning" },
      `Shown to you for: ${shown.reason}; recorded. Gone after ${shownMinutes} minutes or a reload. `,
      el("button", { type: "button", onclick: () => this.#hide() }, "Hide personal data"))] : []);
    // The button that had it is gone; the other one takes its place.
    if (hadFocus) (shown ? this.#personal.querySelector("button") : this.#showButton)?.focus();
  }

  /** Does something once at a time for a button, and says why it was refused, unless that is no longer of use. */
  async #ask(button, action, isCurrent = () => true) {
    if (button?.getAttribute("aria-disabled") === "true") return;
    button?.setAttribute("aria-disabled", "true");
    this.#context.warn("");
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!isCurrent()) return;
      this.#wanted = this.#order;
      if (this.#orders) this.#orders.value = this.#order;
      this.#context.warn(refusalSentence(error), error.requestId && el("p", { class: "quiet" }, `Request ${error.requestId}`));
    } finally {
      button?.removeAttribute("aria-disabled");
    }
  }
}
