// Words for what the API says in codes: events, their reasons and actors, refusals.

import { list } from "./format.mjs";

/** The types of events, in the order of the filters. */
export const eventTypes = {
  AccountOpened: "Account opened", AccountNamed: "External id", ProviderLinked: "Identity linked", ProviderUnlinked: "Identity unlinked",
  ConflictRejected: "Link refused, identity in use", LinkRejected: "Link refused", UnlinkRejected: "Unlink refused",
  ProviderUnlinkPlanned: "Unlink planned", ProviderUnlinkStopped: "Planned unlink stopped",
  SignedIn: "Signed in", SignedOut: "Signed out", SessionRevoked: "Session revoked", SessionsEnded: "Sessions ended by support",
  SignInThrottled: "Sign-in refused, too many tries", SecondFactorRefused: "Sign-in refused, second factor",
  AccountsMerged: "Accounts merged", AccountsUnmerged: "Merge undone", AccountDisabled: "Account disabled",
  AccountEnabled: "Account enabled", AccountErased: "Account erased", LegalHoldSet: "Legal hold set",
  LegalHoldLifted: "Legal hold lifted", AddressClaimed: "Address claimed", AddressConfirmed: "Address confirmed", AddressChanged: "Address changed",
  AddressReleased: "Address released", PasswordSet: "Password set", PasskeyRegistered: "Passkey registered",
  SecondFactorEnrolled: "Second factor enrolled", SecondFactorRemoved: "Second factor removed", RecoveryCodeUsed: "Recovery code used",
  SecondFactorRemovalPlanned: "Removal of a second factor planned",
  SecondFactorRemovalStopped: "Removal of a second factor stopped", LedgerOpened: "Ledger opened", KeyRotated: "Key rotated",
  LedgerRestored: "Ledger restored", RulesSet: "Rules changed",
};

/** What an address or a second factor is. */
const things = {
  email: "an e-mail address", phone: "a phone number", totp: "an authenticator app",
  passkey: "a passkey as a second factor", recovery_codes: "the recovery codes",
};
const factors = { ...things, phone: "a phone number as a second factor" };
const keys = {
  checkpoint: "the key of the checkpoints", encryption: "the encryption key", mac: "the key of the rows",
  pepper: "the pepper of the passwords", token: "the key of the tokens",
};

/** The verb of an entry: the action of its first account, or on it; a word for those without an account. */
const verbs = {
  AccountOpened: ({ cause }) => ({ anonymous: "was opened anonymously", imported: "was imported" })[cause] ?? "was opened",
  ProviderLinked: ({ cause }) => ({ link: "linked", imported: "was imported with", relink: "was relinked with" })[cause] ?? "signed up with",
  ProviderUnlinked: ({ cause }) => ({ upgraded: "upgraded from", support: "lost by support", address_lost: "lost with its address" })[cause] ?? "unlinked",
  ConflictRejected: () => "could not link", LinkRejected: () => "could not link", UnlinkRejected: () => "could not unlink",
  ProviderUnlinkPlanned: () => "will lose by support", AccountNamed: () => "got an external id",
  ProviderUnlinkStopped: ({ cause }) => ({
    only_provider: "keeps its last way to sign in,", support: "keeps by support",
  })[cause] ?? "stopped the unlink of",
  SignedIn: () => "signed in with", SignedOut: ({ scope }) => (scope === "everywhere" ? "signed out everywhere" : "signed out"),
  SessionRevoked: () => "had a session revoked", SessionsEnded: () => "was signed out everywhere",
  SignInThrottled: () => "was refused for too many wrong passwords of",
  SecondFactorRefused: () => "was refused for a wrong second factor after",
  AccountsMerged: () => "absorbed", AccountsUnmerged: () => "gave back",
  AccountDisabled: () => "was disabled", AccountEnabled: () => "was enabled", AccountErased: () => "was erased",
  LegalHoldSet: () => "was put under a legal hold", LegalHoldLifted: () => "was released from a legal hold",
  AddressClaimed: ({ kind, cause }) => `${cause === "imported" ? "was imported with a claim to" : "claimed"} ${things[kind] ?? "an address"}`,
  AddressConfirmed: ({ kind, cause }) => `${cause === "imported" ? "was imported with" : "confirmed"} ${things[kind] ?? "an address"}`,
  AddressChanged: ({ kind, cause }) => (cause === "taken_back" ? `took ${things[kind] ?? "an address"} back` : `changed ${things[kind] ?? "an address"}`),
  AddressReleased: () => "lost an address",
  PasswordSet: ({ cause }) => ({
    change: "changed the password", reset: "reset the password", imported: "was imported with a password",
  })[cause] ?? "set a password",
  PasskeyRegistered: () => "registered a passkey",
  SecondFactorEnrolled: ({ kind }) => (kind === "recovery_codes" ? "got recovery codes" : `enrolled ${factors[kind] ?? "a second factor"}`),
  SecondFactorRemoved: ({ kind, cause }) => `${cause === "holder" ? "removed" : "lost"} ${factors[kind] ?? "a second factor"}${
    { support: " by support", address_lost: " with a claimed address" }[cause] ?? ""}`,
  RecoveryCodeUsed: () => "used a recovery code", SecondFactorRemovalPlanned: () => "will lose a second factor by support",
  SecondFactorRemovalStopped: ({ cause }) => ({
    used: "used a second factor, which stopped its removal", support: "keeps a second factor by support",
    same_kind: "keeps a second factor that the others can't replace",
  })[cause] ?? "stopped the removal of a second factor",
  LedgerOpened: () => "The ledger began", KeyRotated: ({ kind }) => `The ledger rotated ${keys[kind] ?? "a key"}`,
  LedgerRestored: () => "The ledger was restored from a backup", RulesSet: () => "The ledger changed its rules",
};

/** Reasons and causes by type; those that say no more than the verb are left out. */
const reasons = {
  AccountOpened: { imported: "from another system" },
  ConflictRejected: {
    held_by_other: "another account has it", already_yours: "the account has it already",
    provider_taken: "the account has another identity of this provider",
  },
  LinkRejected: { invalid_id_token: "the provider's token was not valid" },
  UnlinkRejected: {
    only_provider: "it is the only way to sign in", reauthentication_required: "the last sign-in was too long ago",
  },
  ProviderLinked: { anonymous: "without a proof", imported: "from another system" },
  ProviderUnlinked: { upgraded: "the account has another identity since", support: "as support had planned", address_lost: "another person proved the address that it claimed" },
  ProviderUnlinkStopped: { only_provider: "since the unlink would have taken the only one" },
  AccountErased: {
    data_subject_request: "the person asked for it", retention: "the time for which data are kept was over",
    operator: "the operator decided it", restored: "again, after a backup had brought it back",
  },
  AccountsMerged: { account_holder: "the holder proved both" },
  AddressChanged: { taken_back: "by a proof of the former one" },
  AddressReleased: { proved: "another person proved it" },
  SessionRevoked: { refresh_token_reused: "a refresh token was used twice" },
  SecondFactorRemoved: { address_lost: "another person proved the address that it claimed" },
  SignInThrottled: { rate_limited: "further tries were refused" },
  SecondFactorRefused: { second_factor: "the identity itself was proved" },
};

/** The words for a reason of an event; an empty text where the verb says it all. */
export function reasonWords(type, reason) {
  return (reason && reasons[type]?.[reason]) || "";
}

/** Codes that the verb says: they need no words of their own. */
export const saidByVerb = [
  "sign_up", "link", "relink", "change", "reset", "proved", "holder", "used", "same_kind", "support", "totp", "phone", "passkey",
  "recovery_codes", "anonymous", "imported", "upgraded", "taken_back", "only_provider", "claimed",
];

/**
 * The sentence of an event, without its subject: `linked google`, `could not link google: another account has it`.
 *
 * @param {{type: string, details?: any, provider?: string, reason?: string}} event an entry of the log, or a row of a timeline
 */
export function sentence({ type, details, provider, reason }) {
  const facts = details ?? { cause: reason, kind: reason, reason };
  const what = facts.provider ?? provider;
  const verb = verbs[type]?.(facts) ?? eventTypes[type] ?? type;
  const why = reasonWords(type, facts.reason ?? facts.cause ?? facts.basis ?? reason);
  return `${verb}${what ? ` ${what}` : verb.endsWith(" of") || verb.endsWith(",") ? " an identity" : ""}${why ? `: ${why}` : ""}`;
}

/**
 * The sentence of a row of a timeline, whose verb is the API's.
 *
 * @param {{type: string, verb: string, provider?: string, reason?: string}} row
 */
export function rowSentence(row) {
  const why = reasonWords(row.type, row.reason);
  return `${rowVerb(row)}${why ? `: ${why}` : ""}`;
}

/**
 * The sentence of a row without its reason.
 *
 * @param {{verb: string, provider?: string}} row
 */
export function rowVerb({ verb, provider }) {
  return `${verb}${provider ? ` ${provider}` : ""}`;
}

/** What an event of a first account is for the second one, such as the holder in a conflict. */
export function passiveSentence({ type, provider }) {
  if (type === "ConflictRejected") return `another account could not link ${provider}: this account has it`;
  if (type === "AccountsMerged") return "was absorbed by another account";
  if (type === "AccountsUnmerged") return "was given back by another account";
  if (type === "AddressChanged") return "an absorbed account changed an address";
  return "was touched by an event of another account";
}

/** Roles as plurals. */
export const roleNames = { auditor: "auditors", support: "support", admin: "administrators" };

/** A role as that of one person. */
export const oneOf = { auditor: "an auditor", support: "of support", admin: "an administrator" };

/** Who acted, without ids. Actors of entries have `type`, those of timelines `kind`. */
export function actorWords(actor) {
  const role = actor?.role ? `, ${actor.role}` : "";
  const words = {
    account_holder: "by the account holder", account: "by the account holder", api_key: `by an API key${role}`,
    staff: `by staff${role}`, system: "by the ledger",
  };
  return words[actor?.kind ?? actor?.type] ?? "";
}

/** Actions of the access log, and verbs of the API, for which a role is missing. */
export function forbiddenSentence(roles) {
  return `Only ${list(roles.map((role) => roleNames[role] ?? role))} may do this.`;
}

const refusals = {
  NETWORK: "The server cannot be reached. Check your connection.",
  INVALID_API_KEY: "Your session is over. Sign in again.",
  FORBIDDEN: "Your role does not permit this.",
  RATE_LIMITED: "Too many requests. Wait a little before you try again.",
  UNAVAILABLE: "The server is busy. Try again in a moment.",
  INVALID_REQUEST: "The server did not accept this. Check what you entered.",
  INVALID_PARAMETER: "The server did not accept this. Check what you entered.",
  NOT_FOUND: "There is nothing at this address.",
  ACCOUNT_NOT_FOUND: "There is no account of this id.",
  EVENT_NOT_FOUND: "There is no event of this id.",
  MERGE_NOT_FOUND: "There is no merge of this id.",
  HOLD_NOT_FOUND: "There is no legal hold of this id.",
  ERASURE_REQUEST_NOT_FOUND: "This request for an erasure was withdrawn, has expired or became void.",
  ERASURE_REQUESTED: "Another administrator has asked for this erasure already.",
  SECOND_ADMINISTRATOR_REQUIRED: "You asked for this erasure. Another administrator has to confirm it.",
  SECOND_PERSON_REQUIRED: "You asked for this. Another person has to confirm it.",
  FACTOR_NOT_FOUND: "There is no second factor of this id.",
  PROVIDER_NOT_LINKED: "The account does not have this identity.",
  PROVIDER_CONFLICT: "Another account has this identity.",
  UNSUPPORTED_PROVIDER: "This provider is not configured.",
  SIZE_NOT_SIGNED: "No checkpoint of this size was signed.",
  NOT_SEALED_YET: "No signed checkpoint covers this event yet. That takes a few seconds.",
  LOG_DAMAGED: "The stored log is damaged here: what it holds is not what was signed. Tell those who operate the server.",
  ACCOUNT_DISABLED: "The account is disabled.",
  ACCOUNT_ERASED: "The account was erased.",
  ACCOUNT_MERGED: "The account was merged into another one.",
  SAME_ACCOUNT: "Both ids belong to the same account.",
  LEGAL_HOLD: "A legal hold protects the account.",
  TOO_MANY_HOLDS: "The account has 16 legal holds, and gets no more.",
  MERGE_PLAN_CHANGED: "Something changed since the preview.",
  ERASURE_PLAN_CHANGED: "Something changed since the preview.",
  MERGE_SUPERSEDED: "The accounts have changed since the merge.",
  MERGE_TOO_LARGE: "The accounts have too many identities to be merged.",
  RELINK_REFUSED: "The identity cannot be linked again.",
  CANNOT_UNLINK_ONLY_PROVIDER: "The account would have no way to sign in.",
  REAUTHENTICATION_REQUIRED: "You signed in too long ago for this. Sign in again.",
  RULES_DIFFER: "This server is configured with other rules than the ledger's.",
  TENANT_MOVED: "The ledger is being moved to another database.",
  SECOND_FACTOR_ENROLLED: "The account has a second factor.",
  SECOND_FACTOR_REQUIRED: "The account asks for a second factor.",
  FACTOR_REFUSED: "The second factor is not possible.",
  IDEMPOTENCY_KEY_REUSED: "This was sent before with other content. Reload the page.",
  PAYLOAD_TOO_LARGE: "This is too long.",
  INTERNAL: "The server failed.",
};

/** The sentence for a refusal. */
export function refusalSentence(error) {
  const { code, status } = error;
  if (Object.hasOwn(refusals, code ?? "")) return refusals[code];
  return status >= 500 ? refusals.INTERNAL : "The server refused this.";
}

/** How a search found something. */
export const matches = {
  email: "by e-mail", unverified_email: "by an e-mail that is NOT verified", former_email: "by a former e-mail",
  unverified_former_email: "by a former e-mail that is NOT verified",
  phone: "by phone number", former_phone: "by a former phone number", provider_id: "by the provider's id",
  former_provider_id: "by the provider's id of a former identity", account_id: "by its id", identity_id: "by the id of an identity",
  event_id: "by the id of an event", request_id: "by the id of a request", merge_id: "by the id of a merge",
  absorbed_account: "as the account that absorbed one of these",
};

/** States of accounts. */
export const states = {
  unopened: "not opened yet", open: "live", live: "live", disabled: "disabled", merged: "absorbed", absorbed: "absorbed", erased: "erased",
};

/** Kinds of second factors. */
export const factorKinds = {
  totp: "Authenticator app", phone: "Phone", passkey: "Security key", recovery_codes: "Recovery codes",
};
