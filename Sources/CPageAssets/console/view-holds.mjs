// The legal holds in force.

import { el } from "../lib/el.mjs";
import { id, time } from "./format.mjs";
import { pagedList } from "./paged-list.mjs";

/** @param {any} context */
export async function show(context) {
  return [
    el("p", {}, "An account under a legal hold is not erased. Holds are in the order of their accounts."),
    ...await pagedList(context, {
      path: "v1/holds", items: "holds", label: "Legal holds", none: "No account is under a legal hold.",
      row: ({ account, hold, made_at: madeAt }) => {
        const path = context.staff.role === "admin" ? `accounts/${account}/hold` : `accounts/${account}`;
        return el("li", {}, "Account ", context.link(path, id(account)), ", hold ", id(hold), madeAt && " made ", madeAt && time(madeAt));
      },
    }),
  ];
}
