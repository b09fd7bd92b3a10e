internal import Cryptography
internal import Ledger
internal import Synchronization

/// A cache of the access tokens that this process has issued or checked, by their SHA-256.
///
/// Sharded, so that threads rarely contend and no lock is held long while a table grows. A shard
/// has two generations: a full younger one becomes the older, and the older is dropped. A token in
/// use moves to the younger one, so only tokens unused for a generation are dropped. Bad tokens are
/// not cached, so no client can evict good tokens without having as many.
final class KnownTokens: Sendable {
    /// The approximate number of tokens in one generation of all shards.
    ///
    /// A full shard's table has 4,096 slots of about 90 bytes, so both generations take at most 12
    /// MB.
    static let generationCountMax = 49_152
    private static let shardCount = 16

    /// The first half of a token's SHA-256: as hard to collide with as a 128-bit key is to guess.
    private struct Name: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ token: String) {
            let digest = SHA256.hash(token)
            high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
            low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        }

        // The bits of a digest are uniformly distributed, so half of them suffice.
        func hash(into hasher: inout Hasher) {
            hasher.combine(low)
        }
    }

    private final class Shard: Sendable {
        private struct Generations {
            var younger: [Name: AccessTokenClaims] = [:]
            var older: [Name: AccessTokenClaims] = [:]
        }

        private let generations = Mutex(Generations())
        private let countMax: Int

        init(countMax: Int) {
            self.countMax = countMax
        }

        func claims(of name: Name) -> AccessTokenClaims? {
            generations.withLock { generations in
                if let claims = generations.younger[name] { return claims }
                guard let claims = generations.older[name] else { return nil }
                insert(claims, name, into: &generations)
                return claims
            }
        }

        func insert(_ claims: AccessTokenClaims, _ name: Name) {
            generations.withLock { insert(claims, name, into: &$0) }
        }

        private func insert(
            _ claims: AccessTokenClaims, _ name: Name, into generations: inout Generations
        ) {
            if generations.younger.count >= countMax {
                generations.older = generations.younger
                generations.younger = [:]
            }
            generations.younger[name] = claims
        }
    }

    private let shards: [Shard]

    /// Creates an empty cache with about this many tokens in a generation.
    init(generationCountMax: Int = KnownTokens.generationCountMax) {
        let countMax = max(1, generationCountMax / Self.shardCount)
        shards = (0..<Self.shardCount).map { _ in Shard(countMax: countMax) }
    }

    /// Returns the claims of a cached token.
    func claims(of token: String) -> AccessTokenClaims? {
        let name = Name(token)
        return shard(of: name).claims(of: name)
    }

    /// Caches the claims of a valid token.
    func remember(_ claims: AccessTokenClaims, of token: String) {
        let name = Name(token)
        shard(of: name).insert(claims, name)
    }

    private func shard(of name: Name) -> Shard {
        shards[Int(truncatingIfNeeded: name.high % UInt64(Self.shardCount))]
    }
}
