import Cryptography
import OpenID
import Synchronization
import Testing

/// A provider whose answers and their times are under a test's control.
///
/// Not the `TestIdentityProvider`, since the cache under test needs held fetches, ages and a clock.
final class KeySetProvider: Sendable {
    struct Down: Error {}

    private struct State {
        var key: TokenSigningKey
        var maxAgeSeconds: Int64?
        var body: [UInt8]?
        var isDown = false
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var fetches = 0
        var seconds: Int64 = 0
    }

    private let state: Mutex<State>

    init(_ key: TokenSigningKey) {
        state = Mutex(State(key: key))
    }

    /// Creates a cache that asks this provider and reads this provider's clock.
    func cache() -> KeySetCache {
        KeySetCache(url: "https://issuer.example/keys", now: { self.state.withLock(\.seconds) }) {
            _ in try await self.fetch()
        }
    }

    /// Number of fetches that have begun.
    var fetches: Int {
        state.withLock(\.fetches)
    }

    func publish(_ key: TokenSigningKey, maxAgeSeconds: Int64? = nil) {
        state.withLock { state in
            state.key = key
            state.maxAgeSeconds = maxAgeSeconds
        }
    }

    /// Answers with these bytes from now on; nil for the published key.
    func publish(body: [UInt8]?) {
        state.withLock { state in state.body = body }
    }

    func setDown(_ isDown: Bool) {
        state.withLock { state in state.isDown = isDown }
    }

    func advance(seconds: Int64) {
        state.withLock { state in state.seconds += seconds }
    }

    /// Makes fetches begin but not end.
    func hold() {
        state.withLock { state in state.isHeld = true }
    }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held {
            continuation.resume()
        }
    }

    @concurrent private func fetch() async throws -> FetchedKeySet {
        state.withLock { state in state.fetches += 1 }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld {
                    state.held.append(continuation)
                }
                return state.isHeld
            }
            if !isHeld {
                continuation.resume()
            }
        }
        return try state.withLock { state in
            guard !state.isDown else {
                throw Down()
            }
            let document = Array(#"{"keys":[\#(state.key.publicJWK)]}"#.utf8)
            return FetchedKeySet(body: state.body ?? document, maxAgeSeconds: state.maxAgeSeconds)
        }
    }
}

/// Waits for a condition; fails the test, naming what it waited for, after ten seconds.
func eventually(_ what: Comment, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(10))
    while try await !condition() {
        try #require(ContinuousClock.now < deadline, what)
        await Task.yield()
    }
}
