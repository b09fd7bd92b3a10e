package import Ledger

/// Why digests of former e-mails are left as they are.
package enum FormerEmailFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key directory lacks a key that accounts' keys are wrapped with.
    case keyIsMissing(String)
    /// No digest of a tenant was made with the refresh key that is at hand.
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
