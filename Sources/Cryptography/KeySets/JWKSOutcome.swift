internal import Synchronization

/// The outcome of a fetch: the first result of its transfer and its timeout.
final class JWKSOutcome: Sendable {
    typealias Value = Result<FetchedKeySet, JWKSFetchFault>

    private struct State {
        var value: Value?
        var waiter: CheckedContinuation<Value, Never>?
    }

    private let state = Mutex(State())

    /// Sets the outcome, unless it is set.
    func end(with value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.value == nil else {
                return nil
            }
            state.value = value
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the outcome; may be called once.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state -> Value? in
                state.waiter = state.value == nil ? continuation : nil
                return state.value
            }
            if let early {
                continuation.resume(returning: early)
            }
        }
    }
}
