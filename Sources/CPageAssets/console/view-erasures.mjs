// The erasures that an administrator asked for, and that another one has to confirm.

import { el } from "../lib/el.mjs";
import { askedNode } from "./erasure-request.mjs";
import { id } from "./format.mjs";
import { pagedList } from "./paged-list.mjs";

/** @param {any} context */
export async function show(context) {
  return [
    el("p", {}, "Where an erasure needs two administrators, the first one asks for it here, and nothing is erased before another one confirms it."),
    ...await pagedList(context, {
      path: "v1/erasure-requests", items: "requests", label: "Erasures to confirm", none: "No erasure waits for a confirmation.",
      row: (request) => el("li", {}, "Account ", id(request.account), " ", askedNode(request), " ",
        context.link(`accounts/${request.account}/erase`, request.yours ? "Open" : "Confirm or withdraw…")),
    }),
  ];
}
