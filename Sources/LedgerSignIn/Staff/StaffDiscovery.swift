internal import Cryptography
internal import FoundationEssentials
internal import JSON
package import OpenID

/// The addresses of the identity provider of the staff, from its metadata (OpenID Connect Discovery 1.0).
///
/// The document is fetched at the first sign-in and again after an hour, within the limits of a key set. A document
/// that cannot be used changes nothing: the former one stays in use.
package actor StaffDiscovery {
    /// The time after which the document is fetched again, in seconds.
    package static let ageSecondsMax: Int64 = 3_600
    /// The time after a failure in which nothing is fetched, in seconds.
    package static let pauseSeconds: Int64 = 5
    /// The most sign-ins that wait for one fetch.
    package static let waitersMax = 64
    private static let path = "/.well-known/openid-configuration"

    /// The parts of the document that a sign-in needs.
    struct Provider: Sendable {
        let flow: FlowSettings
        let keysAddress: String
        let keys: KeySetCache
        /// Whether each answer has to name the issuer (RFC 9207).
        let namesIssuer: Bool
    }

    private let settings: StaffSettings
    private let now: @Sendable () -> Int64
    private let fetch: KeySetCache.Fetch
    private let onFault: @Sendable (String) -> Void
    private var known: (provider: Provider, until: Int64)?
    private var pausedUntil: Int64 = .min
    private var underWay: Task<Provider?, Never>?
    private var waiterCount = 0

    /// Creates a cache without fetching.
    ///
    /// - Parameters:
    ///   - settings: The client.
    ///   - now: Seconds of a clock that never goes back, from any origin.
    ///   - fetch: Fetches a document.
    ///   - onFault: Called with one line, free of secrets, for each document that cannot be used.
    package init(
        _ settings: StaffSettings, now: @escaping @Sendable () -> Int64 = MonotonicSeconds.now,
        fetch: @escaping KeySetCache.Fetch = JWKSFetcher().fetch,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.now = now
        self.fetch = fetch
        self.onFault = onFault
    }

    /// Returns the provider; nil while it cannot be reached and never was.
    func provider() async -> Provider? {
        if let known, now() < known.until { return known.provider }
        guard now() >= pausedUntil, waiterCount < Self.waitersMax else { return known?.provider }
        let task = underWay ?? Task { await load() }
        underWay = task
        waiterCount += 1
        defer { waiterCount -= 1 }
        return await task.value
    }

    private func load() async -> Provider? {
        let loaded: Result<Provider, Unusable>
        do {
            // Section 4: a slash at the issuer's end does not count.
            let issuer = settings.issuer
            let base = issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...]
            let fetched = try await fetch(base + Self.path)
            loaded = Self.provider(fetched.body, settings, known?.provider)
        } catch {
            loaded = .failure(Unusable(reason: "cannot be fetched"))
        }
        underWay = nil
        switch loaded {
        case .success(let provider): known = (provider, now() + Self.ageSecondsMax)
        case .failure(let unusable):
            pausedUntil = now() + Self.pauseSeconds
            onFault("the metadata of the identity provider of the staff \(unusable.reason)")
        }
        return known?.provider
    }

    private struct Unusable: Error {
        let reason: String
    }

    private static func provider(
        _ document: [UInt8], _ settings: StaffSettings, _ former: Provider?
    ) -> Result<Provider, Unusable> {
        guard let value = JSONValue(parsing: document), let members = value.members else {
            return .failure(Unusable(reason: "is not valid JSON"))
        }
        // The comparison of section 4.3 keeps one provider from standing for another.
        guard members["issuer"]?.string?.isExactly(settings.issuer) == true else {
            return .failure(Unusable(reason: "names another issuer"))
        }
        var addresses: [String] = []
        for name in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            guard let object = try? StrictObject(value, at: ""),
                let address = try? object.requiredAddress(name)
            else { return .failure(Unusable(reason: "has no usable \(name)")) }
            addresses.append(address)
        }
        // Absent, the list is that of section 3.
        let methods = members["token_endpoint_auth_methods_supported"]?.array?
            .compactMap(\.string)
        var flow = FlowSettings.Defaults(
            authorizationURL: addresses[0], tokenURL: addresses[1], scope: settings.scope)
        flow.authenticatesByHeader = !(methods ?? []).contains("client_secret_post")
        let keys: KeySetCache =
            if let former, former.keysAddress == addresses[2] { former.keys } else {
                KeySetCache(url: addresses[2])
            }
        var namesIssuer = false
        if case .bool(true) = members["authorization_response_iss_parameter_supported"] {
            namesIssuer = true
        }
        return .success(
            Provider(
                flow: FlowSettings(flow, client: settings.client, secret: .text(settings.secret)),
                keysAddress: addresses[2], keys: keys, namesIssuer: namesIssuer))
    }
}
