package import Ledger

/// Why the digests of former e-mails were left unchanged.
package enum FormerEmailFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key directory lacks a key that wraps the keys of accounts.
    case keyIsMissing(String)
    /// No digest of a tenant was made with the present refresh key.
    case isOtherSecret(TenantID)

    package var description: String {
        switch self {
        case .keyIsMissing(let id): "the key directory lacks the encryption key \(id)"
        case .isOtherSecret(let tenant):
            "tenant \(tenant): no digest was made with the refresh key of the key directory;"
                + " nothing was changed"
        }
    }
}
