/// The name that a person gave to a passkey, to tell it from others.
package struct IdentityName: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in characters of Unicode.
    package static let charactersMax = 64
    /// The maximum length in UTF-8, in bytes.
    package static let bytesMax = 4 * charactersMax
    /// The rule in words.
    package static let form =
        "1 to \(charactersMax) characters, some visible and none a control character"

    package let description: String

    /// Checks a text, which has to be in the normal form C.
    package init?(_ text: String) {
        // Names stand in lists, as reasons do.
        guard text.unicodeScalars.count <= Self.charactersMax, AccessReason.allows(text) else {
            return nil
        }
        description = text
    }
}

/// Stores the names that people gave to passkeys; no event has them.
package protocol IdentityNames: Sendable {
    /// Names an identity, in place of its former name.
    ///
    /// - Returns: Whether the account has the identity.
    func give(
        _ name: IdentityName, to identity: IdentityID, of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> Bool

    /// Returns the names of those identities that have one.
    func names(
        of identities: [IdentityID], in tenant: TenantID
    ) async throws(LedgerFault) -> [IdentityID: IdentityName]
}
