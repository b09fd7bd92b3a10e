internal import Cryptography
internal import FoundationEssentials
internal import JSON
internal import Ledger
package import OpenID

/// The settings of an OpenID Connect issuer.
package struct OIDCSettings: Sendable {
    /// The rules that the issuer's ID tokens must satisfy.
    package let check: IDTokenPolicy
    /// The issuer's keys.
    package let keys: KeySetCache

    /// The browser flow; nil when it is not configured.
    let flow: FlowSettings?
    /// The values of `amr` each of which stands for the account's second factor.
    let secondFactorMethods: Set<String>

    /// Describes an issuer.
    package init(
        check: IDTokenPolicy, keys: KeySetCache, flow: FlowSettings? = nil,
        secondFactorMethods: Set<String> = []
    ) {
        self.check = check
        self.keys = keys
        self.flow = flow
        self.secondFactorMethods = secondFactorMethods
    }

    /// Reads a provider's section of the providers file.
    init(
        _ object: StrictObject, sharing keySets: inout SharedKeySets
    ) throws(ProvidersFileFault) {
        try object.allow(
            StrictObject.commonMembers.union([
                "issuer", "jwks_uri", "audiences", "algorithms", "nonce", "nonce_required",
                "subject", "issuer_tenants", "flow", "second_factor_amr",
            ]))
        let mode = try Self.nonceMode(object)
        let isRequired = try object.optionalFlag("nonce_required") ?? false
        guard !isRequired || mode != .none else {
            throw ProvidersFileFault(
                object.location(of: "nonce_required"), "contradicts the nonce mode \"none\"")
        }
        let issuers = try Self.issuers(object)
        check = IDTokenPolicy(
            issuers: issuers, audiences: try object.texts("audiences"),
            algorithms: try Self.algorithms(object), nonce: mode, nonceRequired: isRequired,
            subject: try Self.subject(object, of: issuers))
        keys = keySets.cache(of: try object.requiredAddress("jwks_uri"))
        secondFactorMethods = try Self.secondFactorMethods(object)
        flow = try FlowSettings.read(object)
        // Otherwise nothing would tell a code of one browser from that of another.
        guard flow?.takesVerifier != false || mode != .none else {
            throw ProvidersFileFault(
                object.location(of: "flow"), "without PKCE needs a nonce mode other than \"none\"")
        }
        guard flow.map({ check.audiences.contains($0.client) }) ?? true else {
            throw ProvidersFileFault(
                object.location(of: "flow"), "must have a client_id that is one of the audiences")
        }
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

    /// Returns the form of subjects, each of which needs other issuers than the other: the rules pin the
    /// issuers alone, and another form under the same name would give accounts to other people.
    private static func subject(
        _ object: StrictObject, of issuers: [String]
    ) throws(ProvidersFileFault) -> SubjectForm {
        let form = try object.optionalText("subject") ?? "sub"
        let counts = issuers.map {
            $0.split(separator: SubjectForm.placeholder, omittingEmptySubsequences: false).count - 1
        }
        switch form {
        case "sub":
            guard counts.allSatisfy({ $0 == 0 }) else {
                throw ProvidersFileFault(
                    object.location(of: "issuer"),
                    "has \(SubjectForm.placeholder), which needs the subject \"tid_oid\"")
            }
            guard !object.has("issuer_tenants") else {
                throw ProvidersFileFault(
                    object.location(of: "issuer_tenants"), "needs the subject \"tid_oid\"")
            }
            return .sub
        case "tid_oid":
            guard counts.allSatisfy({ $0 == 1 }) else {
                throw ProvidersFileFault(
                    object.location(of: "issuer"),
                    "must have \(SubjectForm.placeholder) once, for the subject \"tid_oid\"")
            }
            return .tenantAndObject(of: try tenants(object))
        default:
            throw ProvidersFileFault(
                object.location(of: "subject"), "must be \"sub\" or \"tid_oid\"")
        }
    }

    /// Returns the permitted tenants of the issuer; nil for any.
    private static func tenants(
        _ object: StrictObject
    ) throws(ProvidersFileFault) -> Set<String>? {
        guard object.has("issuer_tenants") else { return nil }
        let tenants = try object.texts("issuer_tenants")
        for (index, tenant) in tenants.enumerated() where !SubjectForm.isGUID(tenant) {
            throw ProvidersFileFault(
                "\(object.location(of: "issuer_tenants"))[\(index)]",
                "must be a GUID in lower case")
        }
        return Set(tenants)
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

    private static func secondFactorMethods(
        _ object: StrictObject
    ) throws(ProvidersFileFault) -> Set<String> {
        guard object.has("second_factor_amr") else { return [] }
        let values = try object.texts("second_factor_amr")
        let known = AuthenticationMethods.issuersSecondFactors
        for (index, value) in values.enumerated() where !known.contains(value) {
            throw ProvidersFileFault(
                "\(object.location(of: "second_factor_amr"))[\(index)]",
                "must be one of \(known.sorted().joined(separator: ", "))")
        }
        return Set(values)
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
