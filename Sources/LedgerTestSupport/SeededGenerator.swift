package import Ledger
internal import Synchronization

/// A random number generator that gives the same numbers for the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts at a seed, which a failing test prints.
    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a random identifier.
    package mutating func id<Kind>() -> EntityID<Kind> {
        EntityID(bits: UInt128(next()) << 64 | UInt128(next()))
    }

    /// Returns random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// Random bytes that are the same for the same seed, for closures that several threads may call.
package final class SeededBytes: Sendable {
    private let generator: Mutex<SeededGenerator>

    /// Starts at a seed.
    package init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    /// Returns the next bytes: eight from each number, which is faster than ``SeededGenerator/bytes(_:)``.
    package func next(_ count: Int) -> [UInt8] {
        generator.withLock { generator in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + 8)
            while bytes.count < count {
                let word = generator.next()
                for shift in stride(from: UInt64(0), to: 64, by: 8) {
                    bytes.append(UInt8(truncatingIfNeeded: word >> shift))
                }
            }
            bytes.removeLast(bytes.count - count)
            return bytes
        }
    }
}
