// An account as a picture: its identities as lines over its events.

import { el } from "../lib/el.mjs";
import { accountTabs, facts, mergedNote, readAccount, unknownAccount } from "./account-head.mjs";
import { count, shortID } from "./format.mjs";
import { holdings, legend, partiesOf, strip, table } from "./picture.mjs";

const limit = 1_000;

/** @param {any} context */
export async function show(context) {
  context.setTitle(`Account ${shortID(context.params.id)} as a picture`);
  const query = new URLSearchParams({ order: "newest", limit: String(limit) });
  const [account, timeline] = await Promise.all([readAccount(context), readAccount(context, `/timeline?${query}`)]);
  if (!account || !timeline) return unknownAccount(context);
  const rows = [...timeline.rows].reverse();
  const held = holdings(rows);
  const parties = partiesOf(held.lanes, account.account);
  const title = `${count(held.lanes.length, "identity", "identities")} and ${count(parties.length, "account")}, ${
    count(held.columns.length, "event")} that changed a link or merged accounts`;
  return [
    mergedNote(context, account), facts(context, account), accountTabs(context, "Picture"),
    held.lanes.length === 0 && el("p", {}, "The account has never held an identity."),
    ...held.lanes.length ? [
      el("p", {}, "A line for each identity, from its link (dot) to its unlink (cross). Letters and dashes name the account that had it. ",
        "Sign-ins are left out."),
      timeline.more && el("p", { class: "warning" }, `Only the last ${limit} events are in the picture.`),
      legend(context, parties), strip(title, held, parties), el("h2", {}, "The same as a table"), table(context, held, parties),
    ] : [],
  ];
}
