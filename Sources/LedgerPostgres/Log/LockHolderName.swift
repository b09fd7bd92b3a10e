/// The names of connections that hold contended locks, each only briefly.
///
/// ``LockHolderWatch`` ends those whose process has stalled.
enum LockHolderName: String, CaseIterable {
    case access = "account-ledger access"
    case erasure = "account-ledger erasure"
    case projector = "account-ledger projector"
    case sealer = "account-ledger sealer"
    case sequencer = "account-ledger sequencer"
    case webhooks = "account-ledger webhooks"
}
