internal import JSON
package import Ledger

/// The roles of a person of the staff, each in all tenants or in some.
package struct StaffRoles: Hashable, Sendable {
    /// The tenants of a role.
    package enum Reach: Hashable, Sendable {
        case all
        case only(Set<TenantID>)

        func contains(_ tenant: TenantID) -> Bool {
            switch self {
            case .all: true
            case .only(let tenants): tenants.contains(tenant)
            }
        }

        func union(_ other: Reach) -> Reach {
            guard case .only(let own) = self, case .only(let others) = other else { return .all }
            return .only(own.union(others))
        }
    }

    /// The tenants of each role.
    package private(set) var reaches: [Role: Reach]

    /// Lists roles.
    package init(_ reaches: [Role: Reach] = [:]) {
        self.reaches = reaches
    }

    /// Returns the roles in a tenant, the one with the fewest permissions first.
    package func roles(in tenant: TenantID) -> [Role] {
        Role.allCases.filter { reaches[$0]?.contains(tenant) ?? false }
    }

    /// Whether there is a role in a tenant.
    package func contain(_ tenant: TenantID) -> Bool {
        reaches.values.contains { $0.contains(tenant) }
    }

    mutating func add(_ role: Role, in reach: Reach) {
        reaches[role] = reaches[role]?.union(reach) ?? reach
    }

    func writeMember(to writer: inout JSONWriter) {
        writer.name("roles")
        writer.object { writer in
            for role in Role.allCases {
                switch reaches[role] {
                case nil: break
                case .all: writer.member(role.rawValue, "*")
                case .only(let tenants):
                    writer.name(role.rawValue)
                    writer.texts(tenants.sorted().map(\.description))
                }
            }
        }
    }

    /// Reads the member that ``writeMember(to:)`` writes; nil for anything else.
    init?(_ members: JSONMembers) {
        guard let written = members["roles"]?.members else { return nil }
        reaches = [:]
        for (name, value) in written {
            guard let role = Role(rawValue: name) else { return nil }
            if let texts = value.array {
                reaches[role] = .only(
                    Set(texts.compactMap { $0.string.flatMap { TenantID($0) } }))
            } else {
                reaches[role] = .all
            }
        }
    }
}

/// A person of the staff, as the identity provider names them.
package struct StaffPerson: Hashable, Sendable, CustomStringConvertible {
    /// The opaque id: the only part that enters the log.
    package let id: StaffID
    /// The name that the person sees; stored with the session only.
    package let name: String
    package let roles: StaffRoles

    /// Describes a person.
    package init(id: StaffID, name: String, roles: StaffRoles) {
        self.id = id
        self.name = name
        self.roles = roles
    }

    /// The id alone: the name enters no log.
    package var description: String { "staff:\(id)" }
}
