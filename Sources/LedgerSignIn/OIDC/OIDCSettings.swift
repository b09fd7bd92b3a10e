internal import Cryptography
internal import FoundationEssentials
internal import JSON
package import OpenID

/// The settings of an OpenID Connect issuer.
package struct OIDCSettings: Sendable {
    /// The rules that the issuer's ID tokens must satisfy.
    package let check: IDTokenPolicy
    /// The issuer's keys.
    package let keys: KeySetCache

    /// Describes an issuer.
    package init(check: IDTokenPolicy, keys: KeySetCache) {
        self.check = check
        self.keys = keys
    }

    /// Reads a provider's section of the providers file.
    init(
        _ object: StrictObject, sharing keySets: inout SharedKeySets
    ) throws(ProvidersFileFault) {
        try object.allow(
            StrictObject.commonMembers.union([
                "issuer", "jwks_uri", "audiences", "algorithms", "nonce", "nonce_required",
            ]))
        let mode = try Self.nonceMode(object)
        let isRequired = try object.optionalFlag("nonce_required") ?? false
        guard !isRequired || mode != .none else {
            throw ProvidersFileFault(
                object.location(of: "nonce_required"), "contradicts the nonce mode \"none\"")
        }
        check = IDTokenPolicy(
            issuers: try Self.issuers(object), audiences: try object.texts("audiences"),
            algorithms: try Self.algorithms(object), nonce: mode, nonceRequired: isRequired)
        keys = keySets.cache(of: try object.requiredAddress("jwks_uri"))
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
            guard URL(string: issuer)?.isOnLoopback == true else {
                throw ProvidersFileFault(
                    value.array == nil ? location : "\(location)[\(index)]",
                    "must use https, except on the loopback interface")
            }
        }
        return issuers
    }
}
