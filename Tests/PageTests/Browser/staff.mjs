// People of the staff in the browser, at the imitated identity provider.

import { base } from "./tab.mjs";

/**
 * Opens the console as a person of the staff, who signs in by clicking.
 *
 * @param {(options?: object) => Promise<any>} open opens a tab of a person of its own
 * @param {string} role `auditor`, `support`, `admin`, `auditor support` for both, or `none`
 * @param {string} path below the console
 */
export async function staffTab(open, role, path = "", name = "Sam Ample") {
  const tab = await open();
  await tab.open(`${base}/console/${path}`);
  await signInAsStaff(tab, role, name);
  return tab;
}

/** Signs in from the page that asks for it. */
export async function signInAsStaff(tab, role, name = "Sam Ample") {
  const kind = await tab.wait(`["link", "button"].find((each) => lookup.find(each, "Sign in"))`, "Sign in");
  await tab.click("Sign in", kind);
  await tab.wait(`location.pathname.startsWith("/dev/idp/staff/") && document.readyState === "complete"`);
  await tab.fill("Name", name);
  await tab.evaluate(`document.querySelector("select[name=role]").value = ${JSON.stringify(role)}`);
  await tab.click("Continue");
  await arrived(tab);
}

/** Waits until the console shows a view. */
export async function arrived(tab) {
  await tab.wait(`location.pathname.includes("/console/") && document.readyState === "complete"
    && document.querySelector("main") && document.querySelector("main").ariaBusy !== "true"
    && document.querySelector("main").childElementCount > 0`, "a view of the console");
}

/** Follows a redirection by hand. */
async function step(address, { cookie, form } = {}) {
  const answer = await fetch(address, {
    redirect: "manual", headers: cookie ? { Cookie: cookie } : {},
    ...(form && { method: "POST", body: form }),
  });
  return { answer, location: answer.headers.get("Location"), cookies: answer.headers.getSetCookie() };
}

/** Begins a sign-in without a browser, up to the address of the callback, which is not followed. */
export async function callback(role, { name = "Sam Ample", query = "" } = {}) {
  const begun = await step(`${base}/console/sign-in${query}`);
  const form = new URLSearchParams(new URL(begun.location).search);
  form.set("name", name);
  form.set("role", role);
  const signedIn = await step(begun.location.split("?")[0], { form });
  return { begun, address: signedIn.location, flow: begun.cookies[0].split(";")[0] };
}

/** Signs in without a browser; returns the header fields of requests, and where the callback leads. */
export async function staffSession(role, options = {}) {
  const { address, flow } = await callback(role, options);
  const ended = await step(address, { cookie: [flow, options.cookie].filter(Boolean).join("; ") });
  const setCookie = ended.cookies.find((each) => each.startsWith("__Host-ledger-console="));
  const cookie = setCookie?.split(";")[0];
  const session = await (await fetch(`${base}/console/session`, { headers: cookie ? { Cookie: cookie } : {} })).json();
  return { cookie, setCookie, location: ended.location, session, token: session.csrf_token,
    fields: { Cookie: cookie, "Ledger-CSRF": session.csrf_token } };
}
