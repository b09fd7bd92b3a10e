/// The cost of an Argon2id hash, RFC 9106.
package struct Argon2Parameters: Hashable, Sendable {
    /// The default: 19 MiB, two passes and one lane, the minimum that OWASP recommends.
    package static let standard = Argon2Parameters(19 << 10, 2, 1)

    /// The memory in KiB.
    package let memoryKiB: Int
    /// The number of passes over the memory.
    package let iterations: Int
    /// The number of lanes, which one thread computes one after the other.
    package let lanes: Int

    /// Creates parameters within the limits that stored hashes have, too.
    ///
    /// Parameters below ``standard`` are for tests only.
    /// - Throws: `malformed` for less than the algorithm needs, or the limit that is exceeded.
    package init(memoryKiB: Int, iterations: Int, lanes: Int) throws(PasswordHashFault) {
        guard lanes >= 1, iterations >= 1 else { throw .malformed }
        guard lanes <= CostLimits.lanesMax else { throw .costTooHigh(.lanes) }
        guard memoryKiB >= 8 * lanes else { throw .malformed }
        guard memoryKiB <= CostLimits.memoryBytesMax >> 10 else { throw .costTooHigh(.memory) }
        try CostLimits.check(memoryBytes: memoryKiB << 10, passes: iterations, lanes: lanes)
        self.init(memoryKiB, iterations, lanes)
    }

    private init(_ memoryKiB: Int, _ iterations: Int, _ lanes: Int) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
        self.lanes = lanes
    }
}
