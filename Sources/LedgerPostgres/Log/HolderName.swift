/// How the connections are called that hold rows which others wait for, each for moments only.
///
/// ``HolderWatch`` ends those of them whose process stands still.
enum HolderName: String, CaseIterable {
    case access = "account-ledger access"
    case erasure = "account-ledger erasure"
    case projector = "account-ledger projector"
    case sealer = "account-ledger sealer"
    case sequencer = "account-ledger sequencer"
    case webhooks = "account-ledger webhooks"
}
