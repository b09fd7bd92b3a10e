internal import FoundationEssentials
internal import JSON
internal import Ledger

/// The file that `LEDGER_STAFF` names: the identity provider of the staff, and the roles that it gives.
///
///     {"issuer":"https://id.example.com","client_id":"ledger","client_secret_file":"/etc/ledger/staff",
///      "role_claim":"groups","roles":{"ledger-admin":"admin",
///                                     "acme-help":{"role":"support","tenants":["acme"]}}}
///
/// An unknown member is a fault, because a misspelt rule would silently not apply.
package struct StaffFile: Sendable {
    /// The maximum size of the file, in bytes.
    package static let bytesMax = 1 << 18
    /// The maximum number of values of the claim with a role.
    package static let rolesMax = 100
    /// The maximum number of tenants that the roles name.
    package static let tenantsMax = 200
    private static let claimBytesMax = 255
    private static let usualScope = "openid profile email"

    /// The path of the file with the client's secret.
    package let clientSecretFile: String
    private let issuer: String
    private let client: String
    private let scope: String
    private let rules: StaffRules

    /// Reads a file.
    ///
    /// - Throws: `ProvidersFileFault`, which names the location.
    package init(_ bytes: [UInt8]) throws(ProvidersFileFault) {
        guard bytes.count <= Self.bytesMax else {
            throw ProvidersFileFault("the file", "has more than \(Self.bytesMax) bytes")
        }
        guard let value = JSONValue(parsing: bytes) else {
            throw ProvidersFileFault("the file", "is not valid JSON or has a duplicate member")
        }
        let file = try StrictObject(value, at: "")
        try file.allow([
            "issuer", "client_id", "client_secret_file", "scope", "role_claim", "roles",
        ])
        issuer = try file.requiredAddress("issuer")
        guard URL(string: issuer)?.query() == nil else {
            throw ProvidersFileFault(file.location(of: "issuer"), "must have no query")
        }
        client = try file.requiredText("client_id")
        clientSecretFile = try file.requiredText("client_secret_file")
        scope = try file.optionalText("scope") ?? Self.usualScope
        guard scope.split(separator: " ").contains("openid") else {
            throw ProvidersFileFault(file.location(of: "scope"), "must contain openid")
        }
        let claim = try file.optionalText("role_claim") ?? StaffRules.usualClaim
        guard claim.utf8.count <= Self.claimBytesMax else {
            throw ProvidersFileFault(file.location(of: "role_claim"), "is too long")
        }
        rules = StaffRules(claim: claim, roles: try Self.roles(file))
    }

    /// Returns the settings with the client's secret.
    package func settings(secret: String) -> StaffSettings {
        StaffSettings(issuer: issuer, client: client, secret: secret, scope: scope, rules: rules)
    }

    private static func roles(
        _ file: StrictObject
    ) throws(ProvidersFileFault) -> [StaffRules.Entry] {
        let (value, location) = try file.required("roles")
        let object = try StrictObject(value, at: location)
        guard (1...rolesMax).contains(object.members.count) else {
            throw ProvidersFileFault(location, "must have 1 to \(rolesMax) members")
        }
        var entries: [StaffRules.Entry] = []
        var tenantCount = 0
        for (name, value) in object.members {
            let place = object.location(of: name)
            guard !name.isEmpty else {
                throw ProvidersFileFault(location, "has a member without a name")
            }
            guard value.members != nil else {
                entries.append((name, try role(value.string, at: place), .all))
                continue
            }
            let section = try StrictObject(value, at: place)
            try section.allow(["role", "tenants"])
            var tenants: Set<TenantID> = []
            for (index, text) in try section.texts("tenants").enumerated() {
                guard let tenant = TenantID(text) else {
                    throw ProvidersFileFault(
                        "\(section.location(of: "tenants"))[\(index)]",
                        "is an invalid tenant name")
                }
                tenants.insert(tenant)
            }
            tenantCount += tenants.count
            guard tenantCount <= tenantsMax else {
                throw ProvidersFileFault(location, "names more than \(tenantsMax) tenants")
            }
            let role = try role(
                try section.requiredText("role"), at: section.location(of: "role"))
            entries.append((name, role, .only(tenants)))
        }
        return entries
    }

    private static func role(
        _ text: String?, at location: String
    ) throws(ProvidersFileFault) -> Role {
        guard let role = text.flatMap({ Role(rawValue: $0) }) else {
            throw ProvidersFileFault(
                location, "must be \"auditor\", \"support\" or \"admin\", or an object")
        }
        return role
    }
}

/// The roles by the values of a claim.
package struct StaffRules: Sendable {
    typealias Entry = (value: String, role: Role, reach: StaffRoles.Reach)

    /// The claim of most identity providers.
    package static let usualClaim = "groups"

    let claim: String
    let roles: [Entry]

    /// The rules of the development mode: a role's own name gives it.
    package static let development = StaffRules(
        claim: usualClaim, roles: Role.allCases.map { ($0.rawValue, $0, .all) })

    init(claim: String, roles: [Entry]) {
        self.claim = claim
        self.roles = roles
    }

    /// Returns the roles of a person whose claim has these values.
    func roles(of values: [String]) -> StaffRoles {
        var roles = StaffRoles()
        for entry in self.roles where values.contains(where: { $0.isExactly(entry.value) }) {
            roles.add(entry.role, in: entry.reach)
        }
        return roles
    }
}

/// The identity provider of the staff, and this service as its client.
package struct StaffSettings: Sendable {
    let issuer: String
    let client: String
    let secret: String
    let scope: String
    let rules: StaffRules

    /// Describes a client.
    package init(
        issuer: String, client: String, secret: String, scope: String = "openid profile email",
        rules: StaffRules
    ) {
        self.issuer = issuer
        self.client = client
        self.secret = secret
        self.scope = scope
        self.rules = rules
    }
}
