internal import Cryptography
internal import FoundationEssentials
import JSON
internal import Ledger
internal import OpenID

extension ProvidersFile {
    /// One tenant's section of the file.
    struct TenantSettings {
        var providers: [ProviderSettings] = []
        var severalPerProvider = false
        var singleUseIDTokens = false
    }

    /// One provider's section of the file.
    struct ProviderSettings {
        let name: ProviderName
        let displayName: String?
        let check: IDTokenPolicy
        let keysAddress: String
    }

    private static let displayNameBytesMax = 64
    private static let type = "oidc"

    static func tenantSettings(
        _ section: StrictObject
    ) throws(ProvidersFileFault) -> TenantSettings {
        try section.allow(["providers", "several_per_provider", "single_use_id_tokens"])
        let (value, location) = try section.required("providers")
        guard let entries = value.array else {
            throw ProvidersFileFault(location, "must be a list of objects")
        }
        guard entries.count <= providerCountMax else {
            throw ProvidersFileFault(location, "has more than \(providerCountMax) elements")
        }
        var settings = TenantSettings()
        settings.severalPerProvider = try section.optionalFlag("several_per_provider") ?? false
        settings.singleUseIDTokens = try section.optionalFlag("single_use_id_tokens") ?? false
        for (index, entry) in entries.enumerated() {
            let object = try StrictObject(entry, at: "\(location)[\(index)]")
            let provider = try providerSettings(object)
            guard !settings.providers.contains(where: { $0.name == provider.name }) else {
                throw ProvidersFileFault(
                    object.location(of: "name"), "is a duplicate provider name")
            }
            settings.providers.append(provider)
        }
        return settings
    }

    private static func providerSettings(
        _ object: StrictObject
    ) throws(ProvidersFileFault) -> ProviderSettings {
        try object.allow([
            "name", "type", "issuer", "jwks_uri", "audiences", "algorithms", "nonce",
            "nonce_required", "display_name",
        ])
        guard let name = ProviderName(try object.requiredText("name")) else {
            throw ProvidersFileFault(
                object.location(of: "name"), "must be lower-case letters, digits, -, _ and .")
        }
        guard try object.requiredText("type") == type else {
            throw ProvidersFileFault(object.location(of: "type"), "must be \"\(type)\"")
        }
        let displayName = try object.optionalText("display_name")
        guard displayName?.utf8.count ?? 0 <= displayNameBytesMax else {
            throw ProvidersFileFault(
                object.location(of: "display_name"), "has more than \(displayNameBytesMax) bytes")
        }
        let mode = try nonceMode(object)
        let isRequired = try object.optionalFlag("nonce_required") ?? false
        guard !isRequired || mode != .none else {
            throw ProvidersFileFault(
                object.location(of: "nonce_required"), "contradicts the nonce mode \"none\"")
        }
        return ProviderSettings(
            name: name, displayName: displayName,
            check: IDTokenPolicy(
                issuers: try issuers(object), audiences: try object.texts("audiences"),
                algorithms: try algorithms(object), nonce: mode, nonceRequired: isRequired),
            keysAddress: try keysAddress(object))
    }

    private static func nonceMode(
        _ object: StrictObject
    ) throws(ProvidersFileFault) -> IDTokenPolicy.NonceMode {
        guard let text = try object.optionalText("nonce") else { return .raw }
        guard let mode = IDTokenPolicy.NonceMode(rawValue: text) else {
            throw ProvidersFileFault(
                object.location(of: "nonce"), "must be \"raw\", \"sha256\" or \"none\"")
        }
        return mode
    }

    private static func algorithms(
        _ object: StrictObject
    ) throws(ProvidersFileFault) -> Set<SignatureAlgorithm> {
        guard object.has("algorithms") else { return [.rs256] }
        var algorithms: Set<SignatureAlgorithm> = []
        for (index, text) in try object.texts("algorithms").enumerated() {
            guard let algorithm = SignatureAlgorithm(rawValue: text) else {
                let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw ProvidersFileFault(
                    "\(object.location(of: "algorithms"))[\(index)]", "must be one of \(known)")
            }
            algorithms.insert(algorithm)
        }
        return algorithms
    }

    /// Issuers are compared as strings, and Google's is not even a URL; but an `http` issuer off
    /// this machine is a mistake.
    private static func issuers(_ object: StrictObject) throws(ProvidersFileFault) -> [String] {
        let (value, location) = try object.required("issuer")
        let issuers =
            value.array == nil
            ? [try object.requiredText("issuer")] : try object.texts("issuer")
        for (index, issuer) in issuers.enumerated() where issuer.lowercased().hasPrefix("http:") {
            guard URL(string: issuer).map(isOnLoopback) == true else {
                throw ProvidersFileFault(
                    value.array == nil ? location : "\(location)[\(index)]",
                    "must use https, except on the loopback interface")
            }
        }
        return issuers
    }

    private static func keysAddress(_ object: StrictObject) throws(ProvidersFileFault) -> String {
        let text = try object.requiredText("jwks_uri")
        let location = object.location(of: "jwks_uri")
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.user() == nil, url.fragment() == nil
        else {
            throw ProvidersFileFault(location, "must be an https URL")
        }
        switch url.scheme?.lowercased() {
        case "https": return text
        case "http" where isOnLoopback(url): return text
        case "http":
            throw ProvidersFileFault(location, "must use https, except on the loopback interface")
        default: throw ProvidersFileFault(location, "must be an https URL")
        }
    }

    private static func isOnLoopback(_ url: URL) -> Bool {
        ["127.0.0.1", "::1", "[::1]", "localhost"].contains(url.host()?.lowercased())
    }
}
