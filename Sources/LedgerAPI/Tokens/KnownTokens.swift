internal import Cryptography
internal import Ledger
internal import Synchronization

/// The access tokens that this process has issued or checked, by their SHA-256.
///
/// They lie in shards, so that threads seldom meet and no thread holds a lock for long when a table
/// grows. A shard holds two generations: when the younger is full it becomes the older, and the older
/// is dropped. A token in use moves to the younger one, so what is dropped has not been used for a
/// generation. Bad tokens are not kept, so nobody can push good ones out without having as many.
final class KnownTokens: Sendable {
    /// About how many tokens a generation of all shards holds.
    ///
    /// A full shard's table has 4,096 places of some 90 bytes, so both generations take 12 MB at most.
    static let generationCountMax = 49_152
    private static let shardCount = 16

    /// The first half of a token's SHA-256: as hard to hit as a 128-bit key is to guess.
    private struct Name: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ token: String) {
            let digest = SHA256.hash(token)
            high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
            low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        }

        // A digest's bits are as even as a hash can make them, so half of them are enough.
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

    /// Makes an empty set of tokens, of which a generation holds about as many as given.
    init(generationCountMax: Int = KnownTokens.generationCountMax) {
        let countMax = max(1, generationCountMax / Self.shardCount)
        shards = (0..<Self.shardCount).map { _ in Shard(countMax: countMax) }
    }

    /// What a token says, when it is known.
    func claims(of token: String) -> AccessTokenClaims? {
        let name = Name(token)
        return shard(of: name).claims(of: name)
    }

    /// Keeps what a good token says.
    func remember(_ claims: AccessTokenClaims, of token: String) {
        let name = Name(token)
        shard(of: name).insert(claims, name)
    }

    private func shard(of name: Name) -> Shard {
        shards[Int(truncatingIfNeeded: name.high % UInt64(Self.shardCount))]
    }
}
