// What the console shows to those who are not signed in, or without a role.

import { el } from "../lib/el.mjs";
import { showView, warn } from "./frame.mjs";

/** Why a sign-in failed, by the codes of the address to which it led back. */
const faults = {
  denied: "You were not signed in: the identity provider said no, or you cancelled.",
  expired: "The sign-in took too long, or began in another browser. Try again.",
  refused: "You were not signed in: the identity provider's answer does not prove who you are.",
  unavailable: "The identity provider cannot be reached. Try again in a moment.",
};
const roles = {
  auditor: "Auditor: reads everything but personal data", support: "Support: finds and repairs accounts",
  admin: "Administrator: also sets legal holds, erases and exports",
};

/**
 * @param {string} address of the sign-in, which leads back here
 * @param {string | null} fault of a sign-in before
 */
export function showSignIn(address, fault) {
  showView("Console", [
    el("p", {}, "For auditors, support and administrators."),
    el("p", {}, el("a", { class: "button primary", href: address }, "Sign in")),
  ]);
  if (fault) warn(faults[fault] ?? "You were not signed in. Try again.");
}

/** @param {() => void} signOut */
export function showNoRole(name, signOut) {
  showView("No role", [
    el("p", {}, `You are signed in as ${name}, but have no role here.`),
    el("p", { class: "quiet" }, "Ask those who operate this server for a role, or sign in as another person."),
    el("p", {}, el("button", { type: "button", onclick: () => signOut() }, "Sign out")),
  ]);
}

/** @param {(role: string) => void} choose */
export function showChoice(names, choose) {
  showView("Choose a role", [
    el("p", {}, "You have several roles here. The log names the one in which you act."),
    el("div", { class: "choices" }, ...names.map((name) =>
      el("button", { type: "button", onclick: () => choose(name) }, roles[name] ?? name))),
  ]);
}
