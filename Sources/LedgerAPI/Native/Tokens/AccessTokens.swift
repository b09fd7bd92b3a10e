package import Cryptography
package import Ledger
internal import Synchronization

/// Issues and checks access tokens: JWTs of type `at+jwt` (RFC 9068), signed with ES256.
///
/// A token is valid for one tenant and one session, which must be live at each use. Others can
/// check it with the published keys.
package final class AccessTokens: Sendable {
    /// The default lifetime of a token, in seconds.
    package static let lifetimeSecondsDefault: Int64 = 600
    /// The maximum length of a token that is examined, in bytes; issued ones are far shorter.
    static let bytesMax = 4096
    /// The permitted clock difference between two processes, in seconds.
    static let leewaySeconds: Int64 = 60
    static let type = "at+jwt"

    /// A set of keys, and the tokens that were found valid with them.
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

    /// The lifetime of a token, in seconds.
    package let lifetimeSeconds: Int64

    private let keys: Mutex<Keys>
    private let onUnknownKey = Mutex<(@Sendable () -> Void)?>(nil)
    private let issuer: String
    private let audience: String

    /// Creates the issuer.
    ///
    /// - Parameters:
    ///   - issuer: the tokens' `iss`.
    ///   - audience: the tokens' `aud`.
    ///   - current: the key that signs new tokens.
    ///   - former: other keys whose tokens are accepted: former keys with unexpired tokens, or the
    ///     next key.
    ///   - lifetimeSeconds: the lifetime of a token; 1 s to 24 h.
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

    /// The id of the signing key.
    package var signingKeyID: String { keys.withLock(\.self).currentID }

    /// The ids of all keys whose tokens are accepted.
    package var keyIDs: Set<String> { keys.withLock(\.self).ids }

    /// Signs with another key from now on, and accepts tokens of exactly these keys.
    ///
    /// Tokens of any other key are refused from then on.
    package func use(current: TokenSigningKey, others: [TokenSigningKey]) {
        let before = keys.withLock(\.self)
        let ids = Set(others.map(\.keyID) + [current.keyID])
        let new = Keys(
            current: current, others: others, issuer: issuer, audience: audience,
            known: before.ids.isSubset(of: ids) ? before.known : KnownTokens())
        keys.withLock { $0 = new }
    }

    /// Sets the function that is called when a token's key is unknown; it may add the key.
    ///
    /// It is called on the requesting thread, which continues when it returns.
    package func setUnknownKeyHandler(_ body: @escaping @Sendable () -> Void) {
        onUnknownKey.withLock { $0 = body }
    }

    /// Issues a token for a session and caches it.
    package func issue(
        for grant: Grant, names: TokenNames = .none, in tenant: TenantID, at now: Timestamp
    ) -> String {
        let claims = AccessTokenClaims(
            caller: Caller(account: grant.account, session: grant.session), tenant: tenant,
            authenticatedAt: grant.authenticatedAt.seconds, issuedAt: now.seconds,
            expiresAt: now.seconds + lifetimeSeconds)
        let keys = keys.withLock(\.self)
        let token = keys.signer.sign(
            claims.payload(
                issuer: issuer, audience: audience, methods: grant.methods, names: names))
        keys.known.remember(claims, of: token)
        return token
    }

    /// Returns the caller; nil unless the token was issued by this ledger for this tenant and is
    /// valid now.
    ///
    /// The signature of a token that this process has issued or checked is not checked again.
    /// Whether the session is live is for the ledger to decide.
    package func check(
        _ token: String, for tenant: TenantID, at now: Timestamp
    ) -> AccessTokenClaims? {
        guard token.utf8.count <= Self.bytesMax else { return nil }
        let keys = keys.withLock(\.self)
        if let claims = keys.known.claims(of: token) {
            return claims.areValid(for: tenant, at: now) ? claims : nil
        }
        guard let claims = read(token, keys), claims.areValid(for: tenant, at: now) else {
            return nil
        }
        keys.known.remember(claims, of: token)
        return claims
    }

    /// Checks a token that is not cached, and looks for new keys when its key is unknown.
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
