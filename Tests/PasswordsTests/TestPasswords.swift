import Testing

@testable import Passwords

/// The least cost that Argon2id has, for tests.
let cheap: Argon2Parameters = {
    do {
        return try Argon2Parameters(memoryKiB: 8, iterations: 1, lanes: 1)
    } catch { preconditionFailure("\(error)") }
}()

/// Returns a password in the form that is hashed.
func prepared(_ text: String) throws -> PreparedPassword {
    try #require(try Password(text).prepared)
}

/// Checks a password against the text of a hash.
func verifies(_ text: String, _ hash: String) throws -> Bool {
    try PasswordHasher(parameters: cheap).verify(Password(text), against: PasswordHash(hash))
}

/// Numbers that are the same in each run: a linear congruential generator.
struct SameNumbers: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // The low bits of the state have short periods.
        return state ^ state >> 32
    }
}
