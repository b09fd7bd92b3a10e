// Combining two accounts of one person: what would happen, a sign-in with the other account to confirm, and the merge.

import { el } from "../lib/el.mjs";
import { field, form } from "../lib/form.mjs";
import { Refused } from "../lib/api.mjs";
import {
  button, day, explain, isExternal, isOwn, keepIntent, nameOf, page, provider, run, say, show, visit, warn,
} from "./page.mjs";
import { askAgain, showAccountAfter } from "./changes.mjs";
import { showAccount } from "./methods.mjs";
import { codeField, factorName } from "./forms.mjs";
import { end, forget, showPreview } from "./other.mjs";

/** Shows that another account has an identity, and the ways on. */
export function showConflict(name, proof, address) {
  const { t } = page;
  const label = nameOf(name);
  const isVisited = proof.flow_code !== undefined;
  warn(
    t.conflict,
    el("p", {}, isOwn(name) ? t.conflictOfOwn : t.conflictExplained(label)),
    el("div", { class: "actions" },
      isVisited && button(t.tryAnother(label), () => visit(name, "link")),
      button(t.combine, async () => {
        // The code of a new password proves nothing about the other account's.
        if (provider(name).type === "password") askPassword(name, address);
        else await preview({ provider: name, proof, address });
      })),
  );
}

/** Asks for the password of the other account. */
function askPassword(name, address) {
  const { t } = page;
  const password = field(t.passwordOf(address), { type: "password", autocomplete: "off" });
  show(t.combineTitle, form({
    fields: [password], submit: t.goOn, missing: t.missing, more: [cancel()],
    onsubmit: (target) => run(target, () =>
      preview({ provider: name, proof: { email: address, password: password.value }, address })),
  }));
}

/** A button that leads back to the account, with a text about what was done until then. */
export function cancel(done = page.t.cancelled) {
  return button(page.t.cancel, async () => {
    end();
    await showAccount();
    say(done);
  });
}

/**
 * Shows what a merge would do. Nothing is done.
 *
 * @param {{provider?: string, proof: any, address?: string, factors?: any[], keep?: Record<string, string>}} other the other
 *   account, by an identity of a provider, or without one by a session with its second `factors`
 */
export async function preview(other) {
  try {
    const body = { provider: other.provider, keep: other.keep ?? {}, ...other.proof };
    showPlan(await page.api.call("POST", "v1/account/merge/preview", body), other);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (await asksForSignIn(error, other)) return;
    if (error.code === "INVALID_PROVIDER_TOKEN" && isExternal(provider(other.provider))) {
      // The proof of the conflict is good for ten minutes.
      keepIntent({ action: "merge", provider: other.provider, keep: other.keep });
      await visit(other.provider, "merge");
    } else {
      throw error;
    }
  }
}

/** Asks for the sign-in whose lack refused a merge; returns whether that was the reason. */
async function asksForSignIn(error, other) {
  if (error.code === "SECOND_FACTOR_ENROLLED") {
    await askAgain({ action: "other" });
  } else if (error.code === "REAUTHENTICATION_REQUIRED") {
    // Either session may be too old, and that of the other account may not last until the next one of this account.
    end();
    await askAgain({ action: "merge", provider: other.provider });
  } else {
    return false;
  }
  return true;
}

/** Goes on after the way to a provider, or a sign-in: with the merge that was confirmed, or with its preview. */
export async function goOn(intent) {
  const { t } = page;
  if (!intent.provider) {
    await askAgain({ action: "other" });
  } else if (!intent.proof) {
    if (isExternal(provider(intent.provider))) {
      keepIntent({ action: "merge", provider: intent.provider });
      await visit(intent.provider, "merge");
      return;
    }
    warn(t.conflict, el("p", {}, t.linkAgain(nameOf(intent.provider))));
  } else if (intent.plan) {
    await merge(intent);
  } else {
    await preview(intent);
  }
}

function showPlan(plan, other) {
  const { t } = page;
  const name = nameOf(other.provider);
  show(
    t.combineTitle,
    el("p", {}, t.combineExplained),
    list(t.moves, plan.moved),
    plan.left_behind.length > 0 && list(t.leftBehind, plan.left_behind),
    ...plan.choices.map((choice) => choices(choice, plan, other)),
    plan.factors.length > 0 && factorList(plan, other),
    el("p", {}, t.otherSignedOut),
    el("p", { class: "quiet" }, t.planExpires(Math.floor(plan.expires_in / 60))),
    confirmation(plan, other, name),
  );
}

function list(title, identities) {
  const { t } = page;
  return el("section", {},
    el("h2", {}, title),
    el("ul", {}, ...identities.map((each) =>
      el("li", {}, `${nameOf(each.provider)}, ${t.linkedOn(day(each.linked_at))}`))));
}

/** The second factors afterwards, and what the first ones of this account end. */
function factorList(plan, { factors = [] }) {
  const { t } = page;
  const known = new Map([...page.factors, ...factors].map((each) => [each.factor_id, factorName(each)]));
  const sides = new Set(plan.factors.map(({ of }) => of));
  return el("section", {},
    el("h2", {}, t.factorsAfter),
    // One may be newer than what the page has read.
    el("ul", {}, ...plan.factors.map(({ factor_id: id, of }) => el("li", {}, t.factorOf[of](known.get(id) ?? t.unknownFactor)))),
    sides.size === 2 && el("p", {}, t.codesStay),
    !sides.has("survivor") && el("p", {}, t.firstFactorEnds));
}

/** Of a provider of which both accounts have an identity, one stays. */
function choices(choice, plan, other) {
  const { t } = page;
  const choose = async (side) => {
    const heading = document.querySelector("main h1");
    // The digest of the plan is of the former choice, so nothing is confirmed or chosen while the new one is loading.
    for (const each of document.querySelectorAll("main button, main [type=radio]")) {
      each.setAttribute("aria-disabled", "true");
    }
    try {
      await preview({ ...other, keep: { ...other.keep, [choice.provider]: side } });
    } finally {
      // Without a new view, that of the former choice.
      if (heading?.isConnected) showPlan(plan, other);
      // The choice keeps the focus in the new view.
      /** @type {HTMLElement | null} */ (document.querySelector(`[name="keep-${choice.provider}"]:checked`))?.focus();
    }
  };
  return el("fieldset", {},
    el("legend", {}, t.whichStays(nameOf(choice.provider))),
    ...["survivor", "absorbed"].map((side) => el("label", { class: "choice" },
      el("input", {
        type: "radio", name: `keep-${choice.provider}`, checked: choice.keep === side,
        onclick: (event) => {
          if (event.currentTarget.getAttribute("aria-disabled") === "true") event.preventDefault();
        },
        onchange: (event) => run(event.currentTarget, () => choose(side)),
      }), side === "survivor" ? t.thisAccounts : t.otherAccounts)));
}

/** The proof that the person has the other account, for this plan. */
function confirmation(plan, other, name) {
  const { t, api } = page;
  if (!other.provider) {
    return el("div", { class: "actions" },
      button(t.combineConfirm, () => merge({ ...other, plan: plan.plan_digest }), { class: "primary" }), cancel());
  }
  const intent = { ...other, proof: undefined, action: "merge", plan: plan.plan_digest };
  switch (provider(other.provider).type) {
    case "email":
    case "phone":
      return el("div", { class: "actions" }, button(t.sendCodeToConfirm, async () => {
        const body = { address: other.address, plan_digest: plan.plan_digest };
        const { challenge_id: challenge } = await api.call("POST", `v1/account/codes/${other.provider}`, body);
        const code = codeField();
        show(t.combineTitle, el("p", {}, t.codeSent(other.address)), form({
          fields: [code], submit: t.combineConfirm, missing: t.missing, more: [cancel()],
          onsubmit: (target) => run(target, () =>
            merge({ ...intent, proof: { challenge_id: challenge, code: code.value.trim() } })),
        }));
      }, { class: "primary" }), cancel());
    case "password": {
      const password = field(t.passwordOf(other.address), { type: "password", autocomplete: "off" });
      return form({
        fields: [password], submit: t.combineConfirm, missing: t.missing, more: [cancel()],
        onsubmit: (target) => run(target, () =>
          merge({ ...intent, proof: { email: other.address, password: password.value } })),
      });
    }
    default:
      return el("div", { class: "actions" }, button(t.signInToConfirm(name), async () => {
        keepIntent(intent);
        await visit(other.provider, "merge", plan.plan_digest);
      }, { class: "primary" }), cancel());
  }
}

async function merge(intent) {
  const { t, api } = page;
  const body = {
    provider: intent.provider, plan_digest: intent.plan, keep: intent.keep ?? {}, ...intent.proof,
  };
  try {
    await api.call("POST", "v1/account/merge", body, { isRepeatable: true, isChange: true });
    forget();
    await showAccountAfter(t.combined);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (await asksForSignIn(error, intent)) return;
    if (error.code === "MERGE_PLAN_CHANGED") {
      await showAccount();
      warn(t.planChanged, el("p", {}, button(t.showAgain, () =>
        intent.provider ? goOn({ ...intent, plan: undefined, proof: undefined }) : showPreview())));
    } else {
      explain(error);
    }
  }
}
