import Dispatch

/// A thread for simulations: they compute for seconds, which must not block the pool's few threads.
struct SimulationThread: Sendable {
    /// The thread shared by tests, which leaves most of the machine to other tests.
    static let shared = SimulationThread()

    private let queue = DispatchQueue(label: "simulations")

    /// Runs a body on the thread, after earlier ones.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
