import Cryptography
import LedgerPostgres

/// The secrets that a ledger needs: one current key of each kind, and former ones that still count.
struct Keys: Sendable {
    let token: TokenSigningKey
    /// Keys whose tokens are still good.
    let formerTokens: [TokenSigningKey]
    let wrapping: WrappingKeyring
    /// Authenticates refresh tokens.
    let refresh: SymmetricKey

    /// The names of all keys that sign or signed access tokens.
    var tokenIDs: Set<String> { Set(formerTokens.map(\.keyID) + [token.keyID]) }
}
