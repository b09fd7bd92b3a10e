import Dispatch

/// A thread for simulations: they compute for seconds, which the pool's few threads must not.
struct SimulationThread: Sendable {
    /// The one that tests share, so that other tests keep most of the machine.
    static let shared = SimulationThread()

    private let queue = DispatchQueue(label: "simulations")

    /// Does something there, after what was asked for before.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
