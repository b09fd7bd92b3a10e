package import Cryptography
package import Ledger
internal import Synchronization

/// Makes and checks access tokens: our own JWTs of the type `at+jwt` (RFC 9068), signed with ES256.
///
/// A token is good for one tenant and for one session, which its use must find alive. Others may
/// check it by the published keys.
package final class AccessTokens: Sendable {
    /// How long a token is good, in seconds, unless configured otherwise.
    package static let lifetimeSecondsDefault: Int64 = 600
    /// The longest token that is looked at, in bytes; ours are far below.
    static let bytesMax = 4096
    /// How far the clocks of two processes may differ, in seconds.
    static let leewaySeconds: Int64 = 60
    static let type = "at+jwt"

    /// The keys of a moment, and the tokens that were found good with them.
    private final class Keys: Sendable {
        let currentID: String
        let ids: Set<String>
        let signer: TokenSigner
        let checker: AccessTokenChecker
        let known: KnownTokens
        let published: [UInt8]

        init(
            current: TokenSigningKey, others: [TokenSigningKey], issuer: String, audience: String,
            known: KnownTokens
        ) {
            let keys = [current] + others.filter { $0.keyID != current.keyID }
            currentID = current.keyID
            ids = Set(keys.map(\.keyID))
            signer = current.signer(type: AccessTokens.type)
            published = Array("{\"keys\":[\(keys.map(\.publicJWK).joined(separator: ","))]}".utf8)
            checker = AccessTokenChecker(
                issuer: issuer, audience: audience, keys: KeySet(keys.map(\.verificationKey)))
            self.known = known
        }
    }

    /// How long a token is good, in seconds.
    package let lifetimeSeconds: Int64

    private let keys: Mutex<Keys>
    private let onUnknownKey = Mutex<(@Sendable () -> Void)?>(nil)
    private let issuer: String
    private let audience: String

    /// Prepares keys.
    ///
    /// - Parameters:
    ///   - issuer: the tokens' `iss`.
    ///   - audience: the tokens' `aud`.
    ///   - current: signs new tokens.
    ///   - former: other keys whose tokens are accepted: they may not have expired, or be next.
    ///   - lifetimeSeconds: how long a token is good; 1 s to 24 h.
    package init(
        issuer: String, audience: String, current: TokenSigningKey, former: [TokenSigningKey] = [],
        lifetimeSeconds: Int64 = AccessTokens.lifetimeSecondsDefault
    ) {
        precondition((1...86_400).contains(lifetimeSeconds), "a token lives 1 s to 24 h")
        self.issuer = issuer
        self.audience = audience
        self.lifetimeSeconds = lifetimeSeconds
        keys = Mutex(
            Keys(
                current: current, others: former, issuer: issuer, audience: audience,
                known: KnownTokens()))
    }

    /// The public keys as a JSON Web Key Set (RFC 7517, section 5).
    package var publishedKeys: [UInt8] { keys.withLock(\.self).published }

    /// The name of the key that signs.
    package var signingKeyID: String { keys.withLock(\.self).currentID }

    /// The names of all keys whose tokens are accepted.
    package var keyIDs: Set<String> { keys.withLock(\.self).ids }

    /// Signs with another key from now on, and accepts the tokens of exactly these.
    ///
    /// A token of a key that is no longer among them is refused from then on.
    package func use(current: TokenSigningKey, others: [TokenSigningKey]) {
        let before = keys.withLock(\.self)
        let ids = Set(others.map(\.keyID) + [current.keyID])
        let new = Keys(
            current: current, others: others, issuer: issuer, audience: audience,
            known: before.ids.isSubset(of: ids) ? before.known : KnownTokens())
        keys.withLock { $0 = new }
    }

    /// Has something called when a token's key is none of ours; it may bring the key.
    ///
    /// It is called on the thread that asks, which goes on when it comes back.
    package func whenKeyIsUnknown(_ body: @escaping @Sendable () -> Void) {
        onUnknownKey.withLock { $0 = body }
    }

    /// Makes a token for a session; it is known from then on.
    package func issue(for grant: Grant, in tenant: TenantID, at now: Timestamp) -> String {
        let claims = AccessTokenClaims(
            caller: Caller(account: grant.account, session: grant.session), tenant: tenant,
            authenticatedAt: grant.authenticatedAt.seconds, issuedAt: now.seconds,
            expiresAt: now.seconds + lifetimeSeconds)
        let keys = keys.withLock(\.self)
        let token = keys.signer.sign(
            claims.payload(issuer: issuer, audience: audience, methods: grant.methods))
        keys.known.remember(claims, of: token)
        return token
    }

    /// Says who asks; nil unless the token is one of ours, for this tenant and good now.
    ///
    /// The signature of a token that this process has issued or checked is not checked again.
    /// Whether the session lives is the ledger's to say.
    package func check(
        _ token: String, for tenant: TenantID, at now: Timestamp
    ) -> AccessTokenClaims? {
        guard token.utf8.count <= Self.bytesMax else { return nil }
        let keys = keys.withLock(\.self)
        if let claims = keys.known.claims(of: token) {
            return claims.areGood(for: tenant, at: now) ? claims : nil
        }
        guard let claims = read(token, keys), claims.areGood(for: tenant, at: now) else {
            return nil
        }
        keys.known.remember(claims, of: token)
        return claims
    }

    /// Reads a token that is not known, and looks for new keys when it was signed by a strange one.
    private func read(_ token: String, _ keys: Keys) -> AccessTokenClaims? {
        do throws(AccessTokenChecker.Failure) {
            return try keys.checker.claims(of: token)
        } catch {
            guard error == .unknownKey, let onUnknownKey = onUnknownKey.withLock(\.self) else {
                return nil
            }
            onUnknownKey()
            let changed = self.keys.withLock(\.self)
            return changed === keys ? nil : try? changed.checker.claims(of: token)
        }
    }
}
