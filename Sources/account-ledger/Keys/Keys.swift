import Cryptography
import LedgerPostgres

/// The secrets that a ledger needs: one current key of each kind, and former ones that still count.
struct Keys: Sendable {
    let token: TokenSigningKey
    /// Keys whose tokens are good as well: former ones, and one that is not used yet.
    let formerTokens: [TokenSigningKey]
    let wrapping: WrappingKeyring
    /// Authenticates refresh tokens and plans of merges, and makes digests of former e-mails.
    let refresh: SymmetricKey
    /// The token key that a new log names: the one that is next, or else the one in use.
    let announcedTokenID: String
    /// Likewise, of the keys that wrap account keys.
    let announcedEncryptionID: String

    /// What a search decrypts with and compares former e-mails by.
    var searching: (keyring: WrappingKeyring, search: SearchKey) {
        (keyring: wrapping, search: SearchKey(refresh))
    }

    /// The names of all keys that sign or signed access tokens.
    var tokenIDs: Set<String> { Set(formerTokens.map(\.keyID) + [token.keyID]) }
}
