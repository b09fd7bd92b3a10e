// The beginning of the page, and the ends of flows at providers.

import { chooseLanguage } from "../lib/languages.mjs";
import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import {
  button, explain, hush, keepIntent, Left, nameOf, page, say, show, showLoading, takeIntent, visit, warn, whenSessionEnds,
} from "./page.mjs";
import { changes, showAccount } from "./methods.mjs";
import { finishSignIn, showSignIn } from "./sign-in.mjs";

const languageKey = "account-language";
const returnKey = "account-return";
/** What the page can say without a connection. */
const ownTexts = {
  title: "Linked accounts", tryAgain: "Try again", failed: "Something went wrong.",
  noConnection: "The service cannot be reached. Check your connection.", errors: {},
};

start();

async function start() {
  const query = new URLSearchParams(location.search);
  const comesBack = query.get("flow") === "done";
  // A reload does nothing twice.
  query.delete("flow");
  history.replaceState(null, "", `${location.pathname}?${query}`.replace(/\?$/, ""));
  try {
    keep(languageKey, query.get("lang"));
    keep(returnKey, query.get("return"));
    page.api.returnTo = sessionStorage.getItem(returnKey);
    const session = await page.api.begin();
    await readTexts(session.accept_language);
    showLoading();
    page.providers = inOrder((await page.api.call("GET", "v1/providers")).providers);
    if (comesBack) await endFlow(session.flow);
    else await showFirst();
  } catch (error) {
    if (error instanceof Left) return;
    if (!page.t.title) await readTexts(navigator.languages.join()).catch(() => { page.t = ownTexts; });
    show(page.t.title, el("p", {}, button(page.t.tryAgain, async () => location.reload())));
    explain(error);
  }
}

/** Puts the providers at other sites first. */
function inOrder(providers) {
  const order = ["oidc", "oauth2", "passkey", "password", "email", "phone"];
  return providers.toSorted((a, b) => Math.max(order.indexOf(a.type), 1) - Math.max(order.indexOf(b.type), 1));
}

/** Keeps a parameter of the address for the way to a provider and back. */
function keep(key, value) {
  if (value) sessionStorage.setItem(key, value);
}

async function readTexts(accepted) {
  page.language = chooseLanguage(sessionStorage.getItem(languageKey), accepted ?? "");
  page.t = (await import(`../texts/${page.language}.mjs`)).texts;
  document.documentElement.lang = page.language;
  page.api.language = page.language;
  page.api.onwait = () => say(page.t.waiting);
}

async function showFirst() {
  if (!page.api.session.user_id) {
    showSignIn();
    return;
  }
  try {
    await showAccount();
  } catch (error) {
    if (!(error instanceof Refused && error.code === "INVALID_ACCESS_TOKEN")) throw error;
    whenOver();
  }
}

function whenOver() {
  page.account = null;
  showSignIn();
  warn(page.t.sessionOver);
}

whenSessionEnds(whenOver);

/** Goes on with what a provider's answer is for. */
async function endFlow(flow) {
  const { t, api } = page;
  if (!flow) {
    await showFirst();
    warn(t.flowEnded);
    return;
  }
  const name = nameOf(flow.provider);
  if (flow.error) {
    const taken = takeIntent();
    await showFirst();
    const intent = taken?.user === page.account?.user_id ? taken : null;
    if (flow.error === "access_denied") {
      say(t.cancelled);
      return;
    }
    // What was asked for stays so until the next action.
    if (intent && flow.purpose === "sign_in") await (await changes()).askAgain(intent);
    warn(t.providerFailed(name), el("p", {}, button(t.tryAgain, () => {
      if (intent && flow.purpose === "merge") keepIntent(intent);
      return visit(flow.provider, flow.purpose, intent?.plan);
    })));
    return;
  }
  if (flow.purpose === "sign_in") await endSignIn(flow.provider);
  else if (!api.session.user_id) whenOver();
  else if (flow.purpose === "link") await (await changes()).endLink(flow.provider);
  else {
    await showAccount();
    await (await changes()).resume({ ...takeIntent(), action: "merge", provider: flow.provider, proof: { flow_code: "cookie" } });
  }
}

async function endSignIn(provider) {
  try {
    await finishSignIn(provider, { flow_code: "cookie" });
  } catch (error) {
    if (error instanceof Left) return;
    await showFirst();
    explain(error);
  }
}

// A page that comes out of the browser's memory, as by its back button, shows nothing before it has asked again.
addEventListener("pagehide", () => {
  hush();
  document.getElementById("main")?.replaceChildren();
  for (const each of document.querySelectorAll("dialog")) each.remove();
});
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  hush();
  start();
});
