// The beginning of the page, and the ends of flows at providers.

import { chooseLanguage } from "../lib/languages.mjs";
import { el } from "../lib/el.mjs";
import { Refused } from "../lib/api.mjs";
import {
  button, explain, hush, nameOf, page, say, show, showLoading, takeIntent, visit, warn, whenSessionEnds,
} from "./page.mjs";
import { changes, combining, showAccount } from "./methods.mjs";
import { askAgain, finishSignIn, showSignIn } from "./sign-in.mjs";

const languageKey = "account-language";
const returnKey = "account-return";

start();

async function start() {
  const query = new URLSearchParams(location.search);
  const comesBack = query.get("flow") === "done";
  // A reload does nothing twice.
  query.delete("flow");
  history.replaceState(null, "", `${location.pathname}?${query}`.replace(/\?$/, ""));
  keep(languageKey, query.get("lang"));
  keep(returnKey, query.get("return"));
  try {
    page.api.returnTo = sessionStorage.getItem(returnKey);
    const session = await page.api.begin();
    await readTexts(session.accept_language);
    showLoading();
    page.providers = inOrder((await page.api.call("GET", "v1/providers")).providers);
    if (comesBack) await endFlow(session.flow);
    else await showFirst();
  } catch (error) {
    await readTexts("en");
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
  if (page.api.session.user_id) await showAccount();
  else showSignIn();
}

whenSessionEnds(() => {
  const had = page.account !== null;
  page.account = null;
  showSignIn();
  if (had) warn(page.t.sessionOver);
});

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
    takeIntent();
    await showFirst();
    if (flow.error === "access_denied") say(t.cancelled);
    else warn(t.providerFailed(name), el("p", {}, button(t.tryAgain, () => visit(flow.provider, flow.purpose))));
    return;
  }
  if (flow.purpose === "sign_in") await endSignIn(flow.provider);
  else if (!api.session.user_id) whenOver();
  else if (flow.purpose === "link") await endLink(flow.provider, name);
  else await (await changes()).resume({ ...takeIntent(), action: "merge", provider: flow.provider, proof: { flow_code: "cookie" } });
}

function whenOver() {
  showSignIn();
  warn(page.t.sessionOver);
}

async function endSignIn(provider) {
  try {
    await finishSignIn(provider, { flow_code: "cookie" });
  } catch (error) {
    await showFirst();
    explain(error);
  }
}

async function endLink(provider, name) {
  const proof = { flow_code: "cookie" };
  try {
    await page.api.call("POST", `v1/auth/link/${provider}`, proof, { isRepeatable: true });
    await showAccount();
    say(page.t.linked(name));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "REAUTHENTICATION_REQUIRED") {
      await askAgain({ action: "link", provider });
      return;
    }
    await showAccount();
    if (error.code === "PROVIDER_CONFLICT") (await combining()).showConflict(provider, proof);
    else explain(error);
  }
}

// A page that comes out of the browser's memory, as by its back button, shows nothing before it has asked again.
addEventListener("pagehide", () => document.getElementById("main")?.replaceChildren());
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  hush();
  start();
});
