// Sentences for refused repairs.

const merge = "Nothing was merged.";

/** Sentences by code; those that other pages get, too, are in words.mjs. */
const sentences = {
  ACCOUNT_DISABLED: "The account is disabled. Enable it first.",
  ACCOUNT_ERASED: "The account was erased. Nothing can be changed there any more.",
  ACCOUNT_NOT_FOUND: "There is no account of this id.",
  CONFIRM_REQUEST_CHANGED:
    "The request can no longer be confirmed: it was confirmed already, the plan was stopped or made again, or the hour is over. Nothing was changed. A plan that exists still takes effect in its time; for another request, stop it and plan it again.",
  CANNOT_UNLINK_ONLY_PROVIDER: "The account would have no way to sign in. Nothing was changed.",
  ERASURE_PLAN_CHANGED: "Something changed since the preview. Nothing was erased. Read the new preview.",
  ERASURE_REQUEST_NOT_FOUND: "This request was withdrawn, has expired or became void. Nothing was erased. Open the view again.",
  ERASURE_REQUESTED: "Another administrator has asked for this erasure already. Open the view again to confirm it. Nothing was erased.",
  HOLD_NOT_FOUND: "The account has no such legal hold. It may have been lifted already.",
  FACTOR_REFUSED:
    "The second factors that would remain can follow none of the account's ways to sign in. Plan their removal first, or have the holder add another way. Nothing was changed.",
  LEGAL_HOLD: "A legal hold protects the account. Nothing was erased.",
  MERGE_NOT_FOUND: "There is no merge of this id.",
  MERGE_PLAN_CHANGED: `Something changed since the preview. ${merge} Read the new preview.`,
  MERGE_REQUEST_CHANGED:
    "The request can no longer be confirmed: something changed since, or it has expired. Nothing was changed. Have the merge asked for again.",
  MERGE_TOO_LARGE: `The accounts have too many identities or second factors, or have absorbed too many accounts. ${merge}`,
  PROVIDER_NOT_LINKED: "The account no longer has this identity. Nothing was changed.",
  RULES_DIFFER: "This server is configured with other rules than the ledger's. Ask those who operate it. Nothing was changed.",
  SAME_ACCOUNT: "Both ids belong to the same account already.",
  SECOND_PERSON_REQUIRED: "You asked for this yourself. Another person has to confirm it. Nothing was changed.",
  UNDO_REQUEST_CHANGED:
    "The request can no longer be confirmed: something changed since, or it has expired. Nothing was changed. Have the undoing asked for again.",
  TOO_MANY_HOLDS: "The account has 16 legal holds, and gets no more.",
  NETWORK: "The connection was lost. Read the timeline of the account before you try again: the change may have been made.",
};

/** The reasons for which a merge cannot be undone. */
const superseded = {
  not_active: "it was undone already, or an account was erased since.",
  survivor_merged: "the account that stayed was merged into another one since. Undo that merge first.",
  later_merge: "the account that stayed absorbed another one since. Undo that merge first.",
  identity_changed:
    "an identity was unlinked since, one that was left behind was linked again, a second factor that moved was removed, or recovery codes alone would be left.",
  provider_taken: "the account has another identity of a provider of which it would get one back. Unlink that one first.",
  upgraded: "the account was anonymous and has another identity since, so the anonymous one must not come back.",
  address_shared:
    "an account got another way to sign in with an address that the other one is signed in to with. Unlink that first.",
  no_way_to_sign_in: "one of the accounts would have no way to sign in.",
};

/** The reasons for which an identity cannot be linked again. */
const relink = {
  already_linked: "the account has it.",
  not_linked_here_last: "this account never had it, or another account has or had it since. Search for the identity.",
  provider_taken: "the account has another identity of this provider, and may have one only.",
  anonymous: "it was anonymous and ended when the account got another identity.",
  address: "it is found by an address, which its holder proves again.",
  passkey: "it is a passkey, whose key was destroyed. Its holder makes another one.",
  handed_over: "it was linked before the account was handed over to the person who proved its address.",
  disclosures_gone: "the data by which it is recognised were destroyed.",
  identity_changed: "it was linked and unlinked at the same moment. Try again.",
};

/**
 * The sentence for a refusal of a repair.
 *
 * @param {{code: string, details?: any}} error
 * @returns {string | null} null for a refusal that every page may get
 */
export function repairSentence({ code, details }) {
  const reason = details?.reason;
  if (code === "NETWORK" && !details?.mayHaveActed) return null;
  if (code === "MERGE_SUPERSEDED") return `The merge cannot be undone: ${superseded[reason] ?? "the accounts changed since."}`;
  if (code === "RELINK_REFUSED") return `The identity cannot be linked again: ${relink[reason] ?? "it changed since."}`;
  return Object.hasOwn(sentences, code) ? sentences[code] : null;
}

/** The bases of an erasure that an administrator may state. */
export const bases = {
  data_subject_request: "the person asked for it",
  retention: "the time for which data are kept is over",
  operator: "the operator decided it",
};
