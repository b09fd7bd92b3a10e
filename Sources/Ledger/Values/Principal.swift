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

/// The kind of a ``StaffID``.
package enum StaffKind {}
/// The opaque id of one person of the staff, derived from the issuer and the subject.
package typealias StaffID = EntityID<StaffKind>

/// The kind of the id of a ``Principal``.
package enum PrincipalKind {}

/// An authenticated auditor, support or administrator: an API key, or a person of the staff.
package struct Principal: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of principals, by their names in entries and in the access log.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case apiKey = "api_key"
        case staff
    }

    package let kind: Kind
    package let id: EntityID<PrincipalKind>
    package let role: Role

    /// Describes an API key.
    package init(key: APIKeyID, role: Role) {
        self.init(.apiKey, key.bits, role: role)
    }

    /// Describes a person of the staff.
    package init(staff: StaffID, role: Role) {
        self.init(.staff, staff.bits, role: role)
    }

    init(_ kind: Kind, _ bits: UInt128, role: Role) {
        self.kind = kind
        id = EntityID(bits: bits)
        self.role = role
    }

    /// `api_key:<id>` or `staff:<id>`, the format of the access log.
    package var description: String { "\(kind.rawValue):\(id)" }

    /// Returns the canonical text of a principal in the access log; nil for another text.
    package static func canonical(_ text: String) -> String? {
        for kind in Kind.allCases {
            let prefix = "\(kind.rawValue):"
            guard text.hasPrefix(prefix) else { continue }
            let id = EntityID<PrincipalKind>(canonical: text.dropFirst(prefix.count))
            return id.map { "\(prefix)\($0)" }
        }
        return nil
    }
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
