package import Cryptography
internal import Encodings
internal import JSON
package import Ledger
internal import OpenID

/// The reason why a person of the staff was not signed in.
package enum StaffFlowFault: String, Error, Sendable, CaseIterable {
    /// The person said no at the identity provider, or it refused the person.
    case denied
    /// The answer belongs to no flow of this browser, or to one that has expired.
    case expired
    /// The answer does not prove what it has to.
    case refused
    /// The identity provider cannot be reached.
    case unavailable
}

/// Signs the staff in: the authorization code grant of OpenID Connect with PKCE, state and nonce.
///
/// Nothing is stored. What a flow needs is in a cookie, encrypted; the state is its digest, so that an answer counts
/// only in the browser that began the flow.
package struct StaffFlows: Sendable {
    /// The time for a flow in the browser, in seconds.
    package static let seconds: Int64 = 600
    /// The accepted difference between the clocks, in seconds.
    private static let leewaySeconds: Int64 = 60
    private static let context = "flow"
    private static let valuesMax = 1_000

    private let settings: StaffSettings
    private let discovery: StaffDiscovery
    private let tokens: SealedTokens

    /// Uses the secret that all processes of the ledger share.
    package init(_ settings: StaffSettings, discovery: StaffDiscovery, key secret: SymmetricKey) {
        self.settings = settings
        self.discovery = discovery
        tokens = SealedTokens(key: secret, label: "console-flow")
    }

    /// A flow that begins.
    package struct Begun: Sendable {
        /// The address of the identity provider.
        package let address: String
        /// The value of the browser's cookie.
        package let cookie: String
    }

    /// The use of a flow.
    package struct Wanted: Hashable, Sendable {
        /// The path below the console to which the browser is led.
        package let path: String
        package let tenant: TenantID
        /// Whether the person has to prove again who they are.
        package let isFresh: Bool

        /// Describes a use.
        package init(path: String, tenant: TenantID, isFresh: Bool) {
            self.path = path
            self.tenant = tenant
            self.isFresh = isFresh
        }
    }

    /// The end of a flow.
    package struct Ended: Sendable {
        package let person: StaffPerson
        package let authenticatedAt: Timestamp?
    }

    /// Begins a flow.
    ///
    /// - Parameters:
    ///   - wanted: The use.
    ///   - callback: The address to which the identity provider sends the browser back.
    ///   - now: The time.
    /// - Returns: The address to open, and the cookie.
    /// - Throws: `unavailable` while the identity provider is not known.
    package func begin(
        _ wanted: Wanted, callback: String, at now: Timestamp
    ) async throws(StaffFlowFault) -> Begun {
        guard let provider = await discovery.provider() else { throw .unavailable }
        let verifier = Base64URL.encode(SecureRandom.bytes(32))
        let nonce = Base64URL.encode(SecureRandom.bytes(16))
        let cookie = tokens.seal(
            Self.context, in: nil, until: now.adding(seconds: Self.seconds)
        ) { writer in
            writer.member("verifier", verifier)
            writer.member("nonce", nonce)
            writer.member("callback", callback)
            writer.member("path", wanted.path)
            writer.member("tenant", wanted.tenant.description)
            writer.name("fresh")
            writer.flag(wanted.isFresh)
            writer.name("begun")
            writer.number(now.microseconds)
        }
        let address = provider.flow.authorizationAddress(
            callback: callback, state: Self.state(of: cookie), verifier: verifier, nonce: nonce)
        // An age of zero asks for a sign-in whatever session there is (OpenID Connect Core, section 3.1.2.1).
        return Begun(address: address + (wanted.isFresh ? "&max_age=0" : ""), cookie: cookie)
    }

    /// Returns the purpose of the flow in a cookie; nil for an expired or invalid cookie.
    package func wanted(_ cookie: String, at now: Timestamp) -> Wanted? {
        pending(cookie, at: now)?.wanted
    }

    /// Ends a flow with the answer that came with the browser.
    ///
    /// - Throws: The reason why the person is not signed in.
    package func end(
        _ cookie: String, _ answer: BrowserFlows.Answer, at now: Timestamp
    ) async throws(StaffFlowFault) -> Ended {
        guard let pending = pending(cookie, at: now),
            constantTimeEqual(
                Array(Self.state(of: cookie).utf8), Array(answer.state.utf8))
        else { throw .expired }
        guard let provider = await discovery.provider() else { throw .unavailable }
        // RFC 9207: an answer of another server does not belong to this flow.
        guard answer.issuer.map({ $0.isExactly(settings.issuer) }) ?? !provider.namesIssuer else {
            throw .refused
        }
        guard answer.error == nil, let code = answer.code else { throw .denied }
        let tokens: JSONMembers
        do {
            tokens = try await provider.flow.exchange(
                code, callback: pending.callback, verifier: pending.verifier, at: now)
        } catch {
            throw error == .unavailable ? .unavailable : .refused
        }
        guard let token = tokens["id_token"]?.string else { throw .refused }
        let checker = IDTokenChecker(
            policy: IDTokenPolicy(
                issuers: [settings.issuer], audiences: [settings.client],
                algorithms: Set(SignatureAlgorithm.allCases), nonce: .raw, nonceRequired: true,
                leewaySeconds: Self.leewaySeconds))
        let claims: IDTokenClaims
        do {
            claims = try await checker.check(
                token, nonce: pending.nonce, keys: provider.keys, now: now.seconds)
        } catch {
            throw error == .keysUnavailable ? .unavailable : .refused
        }
        return try ended(claims, pending, at: now)
    }

    private func ended(
        _ claims: IDTokenClaims, _ pending: Pending, at now: Timestamp
    ) throws(StaffFlowFault) -> Ended {
        // Never later than now: a clock ahead must not make a sign-in recent for longer.
        let signedIn = claims.authTime.map { min(Timestamp(seconds: $0), now) }
        if pending.wanted.isFresh {
            let earliest = pending.begun.adding(seconds: -Self.leewaySeconds)
            guard let signedIn, signedIn >= earliest else { throw .refused }
        }
        let values = claims.texts(settings.rules.claim).prefix(Self.valuesMax)
        let person = StaffPerson(
            id: Self.id(issuer: claims.issuer, subject: claims.subject),
            name: claims.name ?? claims.email ?? claims.subject,
            roles: settings.rules.roles(of: Array(values)))
        return Ended(person: person, authenticatedAt: signedIn)
    }

    /// Returns the opaque id of a person: a UUIDv8 (RFC 9562, section 5.8) of SHA-256.
    static func id(issuer: String, subject: String) -> StaffID {
        let digest = SHA256.hash("account-ledger staff\0\(issuer)\0\(subject)")
        let bits = digest.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let version = UInt128(0xF) << 76
        let variant = UInt128(0b11) << 62
        return StaffID(bits: bits & ~version & ~variant | UInt128(8) << 76 | UInt128(0b10) << 62)
    }

    private static func state(of cookie: String) -> String {
        Base64URL.encode(SHA256.hash(cookie))
    }

    private struct Pending {
        let wanted: Wanted
        let callback: String
        let verifier: String
        let nonce: String
        let begun: Timestamp
    }

    private func pending(_ cookie: String, at now: Timestamp) -> Pending? {
        guard let (members, _) = tokens.open(cookie, Self.context, in: nil, at: now),
            let verifier = members["verifier"]?.string, let nonce = members["nonce"]?.string,
            let callback = members["callback"]?.string, let path = members["path"]?.string,
            let tenant = members["tenant"]?.string.flatMap({ TenantID($0) }),
            case .bool(let isFresh) = members["fresh"], let begun = members["begun"]?.microseconds
        else { return nil }
        return Pending(
            wanted: Wanted(path: path, tenant: tenant, isFresh: isFresh), callback: callback,
            verifier: verifier, nonce: nonce, begun: begun)
    }
}
