/// The kind of an ``APIKeyID``.
package enum APIKeyKind {}
/// The name of one API key.
package typealias APIKeyID = EntityID<APIKeyKind>

/// What somebody with an API key may do in one tenant.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Reads everything but personal data.
    case auditor
    /// Reads what people ask about, personal data with a reason.
    case support
    /// What support may, and what changes the ledger from outside of an account.
    case admin

    /// Whether personal data may be shown to it, with a reason.
    package var maySeePersonalData: Bool {
        switch self {
        case .auditor: false
        case .support, .admin: true
        }
    }

    /// Whether personal data of all accounts may be shown to it at once, and not of one at a time.
    package var mayDiscloseEverybody: Bool {
        switch self {
        case .auditor, .support: false
        case .admin: true
        }
    }
}

/// Who asks with an API key: auditors, support, administrators.
package struct Principal: Hashable, Sendable, CustomStringConvertible {
    package let key: APIKeyID
    package let role: Role

    /// Names who asks.
    package init(key: APIKeyID, role: Role) {
        self.key = key
        self.role = role
    }

    /// `api_key:<id>`, the form of the access log.
    package var description: String { "api_key:\(key)" }
}

/// An API key as it is stored: nothing that it could be made from.
package struct StoredAPIKey: Hashable, Sendable {
    package let id: APIKeyID
    package let role: Role
    /// The SHA-256 of the key's secret half.
    package let secretDigest: Digest
    package let label: String
    package let createdAt: Timestamp
    /// From when on it is good no more; nil when it does not expire.
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

    /// Whether it is neither revoked nor expired.
    package func isGood(at now: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { now < $0 } ?? true
    }
}
