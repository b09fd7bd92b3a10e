/// The most that a stored hash can make the server spend: 256 MiB, and one or two seconds.
enum CostLimits {
    static let memoryBytesMax = 256 << 20
    /// Memory multiplied by the number of times that it is written or read.
    static let trafficBytesMax = 1 << 30
    static let lanesMax = 16
    static let pbkdf2IterationsMax = 2_500_000
    static let bcryptLogRoundsMax = 14
    static let shaCryptRoundsMax = 1_000_000
    /// The password's bytes multiplied by the rounds, each of which hashes the password once or twice.
    static let shaCryptBytesMax = 1 << 28

    /// The memory below which a hash of another system is wrapped.
    static let memoryBytesStrong = 16 << 20

    /// Checks a scheme that fills memory, before any of it is allocated.
    static func check(
        memoryBytes: Int, passes: Int, lanes: Int
    ) throws(PasswordHashFault) {
        guard lanes <= lanesMax else { throw .costTooHigh(.lanes) }
        guard memoryBytes <= memoryBytesMax else { throw .costTooHigh(.memory) }
        guard passes <= trafficBytesMax / memoryBytes else { throw .costTooHigh(.iterations) }
    }
}
