internal import Synchronization

/// The outcome of one fetch, which its transfer and its clock race for; the first one counts.
final class JWKSOutcome: Sendable {
    typealias Value = Result<FetchedKeySet, JWKSFetchFault>

    private struct State {
        var value: Value?
        var waiter: CheckedContinuation<Value, Never>?
    }

    private let state = Mutex(State())

    /// Ends the fetch, unless it has ended.
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

    /// Waits for the end; to be called once.
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
