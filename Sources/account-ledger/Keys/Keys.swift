import Cryptography
import LedgerAudit
import LedgerEngine
import Passwords

/// The secrets of a ledger: the current key of each kind, and former ones that are still valid.
struct Keys: Sendable {
    let token: TokenSigningKey
    /// Other keys whose tokens are valid: former ones, and a next one that is not in use yet.
    let formerTokens: [TokenSigningKey]
    let wrapping: WrappingKeyring
    /// Authenticates refresh tokens and merge plans, and keys the digests of former e-mails.
    let refresh: SymmetricKey
    /// The keys of hashes of passwords, none of which need be in use.
    let peppers: PasswordPeppers
    /// The token key that a new log names: the next one, or else the one in use.
    let announcedTokenID: String
    /// The encryption key that a new log names, likewise.
    let announcedEncryptionID: String
    /// The next pepper, or else the one in use; nil without one.
    let announcedPepperID: String?

    /// The keys with which a search decrypts data and compares former e-mails.
    var searching: (keyring: WrappingKeyring, search: SearchKey) {
        (keyring: wrapping, search: SearchKey(refresh))
    }

    /// The ids of all keys that sign or signed access tokens.
    var tokenIDs: Set<String> { Set(formerTokens.map(\.keyID) + [token.keyID]) }
}
