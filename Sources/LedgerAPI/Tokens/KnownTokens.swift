internal import Cryptography
internal import Ledger
internal import Synchronization

/// The access tokens that this process has issued or checked, by their SHA-256.
///
/// Holds two generations: when the younger is full it becomes the older, and the older is dropped.
/// A token in use moves to the younger one, so what is dropped has not been used for a generation.
/// Bad tokens are not kept, so nobody can push good ones out without having as many.
final class KnownTokens: Sendable {
    /// The most tokens that one generation holds.
    static let generationCountMax = 16_384

    private struct Generations {
        var younger: [Digest: AccessTokenClaims] = [:]
        var older: [Digest: AccessTokenClaims] = [:]

        mutating func insert(_ claims: AccessTokenClaims, _ digest: Digest) {
            if younger.count >= generationCountMax {
                older = younger
                younger = [:]
            }
            younger[digest] = claims
        }
    }

    private let generations = Mutex(Generations())

    /// What a token says, when it is known.
    func claims(of token: String) -> AccessTokenClaims? {
        guard let digest = Self.digest(token) else { return nil }
        return generations.withLock { generations in
            if let claims = generations.younger[digest] { return claims }
            guard let claims = generations.older[digest] else { return nil }
            generations.insert(claims, digest)
            return claims
        }
    }

    /// Keeps what a good token says.
    func remember(_ claims: AccessTokenClaims, of token: String) {
        guard let digest = Self.digest(token) else { return }
        generations.withLock { $0.insert(claims, digest) }
    }

    private static func digest(_ token: String) -> Digest? {
        Digest(SHA256.hash(Array(token.utf8)))
    }
}
