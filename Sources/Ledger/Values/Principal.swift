/// The kind of an ``APIKeyID``.
package enum APIKeyKind {}
/// The id of one API key.
package typealias APIKeyID = EntityID<APIKeyKind>

/// The permissions of an API key in one tenant.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Reads everything but personal data.
    case auditor
    /// Reads what people ask about, including personal data with a reason.
    case support
    /// Like support, and may change accounts on others' behalf.
    case admin

    /// Whether it may see personal data, with a reason.
    package var maySeePersonalData: Bool {
        switch self {
        case .auditor: false
        case .support, .admin: true
        }
    }

    /// Whether it may see personal data of all accounts at once, and not only of one at a time.
    package var mayDiscloseAllAccounts: Bool {
        switch self {
        case .auditor, .support: false
        case .admin: true
        }
    }
}

/// An authenticated API key: an auditor, support or an administrator.
package struct Principal: Hashable, Sendable, CustomStringConvertible {
    package let key: APIKeyID
    package let role: Role

    /// Describes a principal.
    package init(key: APIKeyID, role: Role) {
        self.key = key
        self.role = role
    }

    /// `api_key:<id>`, the format of the access log.
    package var description: String { "api_key:\(key)" }
}

/// A stored API key: nothing from which the key could be derived.
package struct StoredAPIKey: Hashable, Sendable {
    package let id: APIKeyID
    package let role: Role
    /// The SHA-256 of the key's secret half.
    package let secretDigest: Digest
    package let label: String
    package let createdAt: Timestamp
    /// The time from which it is invalid; nil when it does not expire.
    package let expiresAt: Timestamp?
    package let revokedAt: Timestamp?

    /// Describes a key.
    package init(
        id: APIKeyID, role: Role, secretDigest: Digest, label: String, createdAt: Timestamp,
        expiresAt: Timestamp?, revokedAt: Timestamp?
    ) {
        self.id = id
        self.role = role
        self.secretDigest = secretDigest
        self.label = label
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Checks that it is neither revoked nor expired.
    package func isGood(at now: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { now < $0 } ?? true
    }
}
