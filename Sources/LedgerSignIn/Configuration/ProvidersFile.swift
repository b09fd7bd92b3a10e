internal import JSON
package import Ledger

/// Reads the file that `LEDGER_PROVIDERS` names: the providers of each tenant.
///
///     {"providers":[{"name":"google","type":"oidc","issuer":["https://accounts.google.com"],
///                    "jwks_uri":"https://www.googleapis.com/oauth2/v3/certs",
///                    "audiences":["CLIENT_ID"]}]}
///
/// is for the tenant `default` alone; `{"tenants":{"default":{"providers":[...]},"acme":{...}}}` is
/// for several. An unknown member is a fault, because a misspelt rule would silently not apply.
package enum ProvidersFile {
    /// The maximum size of the file, in bytes.
    package static let bytesMax = 1 << 20
    /// The maximum number of tenants in a file.
    package static let tenantCountMax = 10_000
    /// The maximum number of providers of a tenant.
    package static let providerCountMax = 64

    /// Reads a file.
    ///
    /// Providers with the same `jwks_uri` share one cache of keys.
    ///
    /// - Parameters:
    ///   - bytes: the file's content.
    ///   - policy: the initial rules of every tenant.
    /// - Returns: the configuration of each tenant that the file names.
    /// - Throws: `ProvidersFileFault`, which names the location.
    package static func parse(
        _ bytes: [UInt8], policy: TenantPolicy
    ) throws(ProvidersFileFault) -> [TenantID: TenantConfiguration] {
        guard bytes.count <= bytesMax else {
            throw ProvidersFileFault("the file", "has more than \(bytesMax) bytes")
        }
        guard let value = JSONValue(parsing: bytes) else {
            throw ProvidersFileFault("the file", "is not valid JSON or has a duplicate member")
        }
        var keySets = SharedKeySets()
        var result: [TenantID: TenantConfiguration] = [:]
        for (tenant, section) in try sections(value) {
            let settings = try tenantSettings(section, sharing: &keySets)
            var tenantPolicy = policy
            tenantPolicy.severalPerProvider = settings.severalPerProvider
            tenantPolicy.singleUseIDTokens = settings.singleUseIDTokens
            tenantPolicy.eraseNeedsTwo = settings.eraseNeedsTwo ?? policy.eraseNeedsTwo
            tenantPolicy.confirmLater = settings.confirmLater
            tenantPolicy.phoneUnusedDays = settings.phoneUnusedDays ?? policy.phoneUnusedDays
            tenantPolicy.supportDelayHours = settings.supportDelayHours ?? policy.supportDelayHours
            tenantPolicy.supportNeedsTwo = settings.supportNeedsTwo
            result[tenant] = TenantConfiguration(
                providers: settings.providers, policy: tenantPolicy, messages: settings.messages,
                localParts: settings.localParts,
                returnAddresses: settings.returnAddresses, tokenSources: settings.tokenSources)
        }
        return result
    }

    private static func sections(
        _ value: JSONValue
    ) throws(ProvidersFileFault) -> [(tenant: TenantID, section: StrictObject)] {
        let file = try StrictObject(value, at: "")
        guard file.has("tenants") else { return [(.default, file)] }
        try file.allow(["tenants"])
        let tenants = try file.required("tenants")
        let members = try StrictObject(tenants.value, at: tenants.location).members
        guard members.count <= tenantCountMax else {
            throw ProvidersFileFault("tenants", "has more than \(tenantCountMax) members")
        }
        var sections: [(tenant: TenantID, section: StrictObject)] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let tenant = TenantID(name) else {
                throw ProvidersFileFault("tenants", "has an invalid tenant name")
            }
            sections.append((tenant, try StrictObject(value, at: "tenants.\(name)")))
        }
        return sections
    }
}
