package import Cryptography
import JSON

/// Checks ID tokens against one provider's policy, OpenID Connect Core section 3.1.3.7.
package struct IDTokenChecker: Sendable {
    /// The policy that tokens must satisfy.
    package let policy: IDTokenPolicy

    /// Creates a checker for one provider.
    package init(policy: IDTokenPolicy) {
        self.policy = policy
    }

    /// Checks a token and returns its claims.
    ///
    /// The signature is checked before any claim is read.
    ///
    /// - Parameters:
    ///   - token: The compact JWS.
    ///   - nonce: The client's nonce; an empty text counts as none.
    ///   - keys: The provider's keys.
    ///   - now: The time in whole seconds since 1970.
    /// - Returns: The claims of the token.
    /// - Throws: The first rule that the token breaks.
    package func check(
        _ token: String, nonce: String?, keys: KeySet, now: Int64
    ) throws(IDTokenFault) -> IDTokenClaims {
        let parsed = try parse(token)
        return try check(parsed, try algorithm(of: parsed), nonce: nonce, keys: keys, now: now)
    }

    /// Checks a token with keys from a cache, which may wait for the provider.
    ///
    /// A token with an invalid header is refused before the cache is used.
    ///
    /// - Parameters:
    ///   - token: The compact JWS.
    ///   - nonce: The client's nonce; an empty text counts as none.
    ///   - keys: The cache of the provider's keys.
    ///   - now: The time in whole seconds since 1970.
    /// - Returns: The claims of the token.
    /// - Throws: The first rule that the token breaks, or `keysUnavailable`.
    package func check(
        _ token: String, nonce: String?, keys: KeySetCache, now: Int64
    ) async throws(IDTokenFault) -> IDTokenClaims {
        let parsed = try parse(token)
        let algorithm = try algorithm(of: parsed)
        let current = try await current(keys, for: parsed, algorithm)
        return try check(parsed, algorithm, nonce: nonce, keys: current, now: now)
    }

    /// Returns the keys of a cache, which looks them up if they lack the one that a token names, or if the token names
    /// none and none of them has signed it.
    private func current(
        _ cache: KeySetCache, for token: ParsedJWS, _ algorithm: SignatureAlgorithm
    ) async throws(IDTokenFault) -> KeySet {
        let name = token.header.kid
        let isWanted = { @Sendable (keys: KeySet) -> Bool in
            guard name == nil else { return keys.contains(id: name) }
            return keys.key(id: nil, for: algorithm)
                .map { CompactJWS.verify(token, with: $0, by: algorithm) } ?? false
        }
        if let known = cache.known(forKeyID: name), isWanted(known) { return known }
        do {
            return try await cache.keys(where: isWanted)
        } catch {
            throw .keysUnavailable
        }
    }

    private func check(
        _ token: ParsedJWS, _ algorithm: SignatureAlgorithm, nonce: String?, keys: KeySet,
        now: Int64
    ) throws(IDTokenFault) -> IDTokenClaims {
        guard let key = keys.key(id: token.header.kid, for: algorithm) else {
            throw .unknownKey
        }
        guard CompactJWS.verify(token, with: key, by: algorithm) else {
            throw .badSignature
        }
        guard let payload = JSONValue(parsing: token.payload)?.members else {
            throw .malformed
        }
        return try IDTokenRules(
            policy: policy, claims: payload, keyIssuer: key.issuer, now: now
        ).checked(nonce: nonce)
    }

    private func parse(_ token: String) throws(IDTokenFault) -> ParsedJWS {
        guard let parsed = ParsedJWS(token) else {
            throw .malformed
        }
        return parsed
    }

    private func algorithm(of token: ParsedJWS) throws(IDTokenFault) -> SignatureAlgorithm {
        guard
            let algorithm = token.header.algorithm,
            policy.algorithms.contains(algorithm)
        else {
            throw .algorithmNotAllowed
        }
        // Explicitly typed tokens are access tokens, logout tokens and the like.
        if let type = token.header.typ?.lowercased(), type.utf8.suffix(4).elementsEqual("+jwt".utf8)
        {
            throw .wrongType
        }
        return algorithm
    }
}
