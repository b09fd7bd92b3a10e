internal import Synchronization

/// Calls that run in groups: those that arrive while a group runs form the next one.
///
/// One transaction and one commit serve a group, so that many clients cost little more than one.
final class GroupedCalls<Input: Sendable, Output: Sendable>: Sendable {
    private struct Waiting {
        let input: Input
        let continuation: CheckedContinuation<Output, any Error>
        /// The number of groups that it was part of.
        var runs = 0
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    private static var groupMax: Int { 64 }
    private static var runsMax: Int { 500 }
    private static var delay: Duration { .milliseconds(10) }

    /// An input has been part of so many groups without an output that it never may have one.
    struct TriedTooOften: Error {}

    private let state = Mutex(State())
    private let body: @Sendable ([Input]) async throws -> [Output?]

    /// Creates a queue.
    ///
    /// - Parameter body: Returns one output for each input, in order; nil runs the input again with the next
    ///   group.
    init(_ body: @escaping @Sendable ([Input]) async throws -> [Output?]) {
        self.body = body
    }

    /// Runs an input with those of other callers.
    ///
    /// - Throws: The error of its group.
    func run(_ input: Input) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            let isIdle = state.withLock { state in
                state.waiting.append(Waiting(input: input, continuation: continuation))
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if isIdle { Task { await self.runGroups() } }
        }
    }

    private func runGroups() async {
        while let group = next() {
            do {
                var again: [Waiting] = []
                // Another transaction takes longer than a group.
                if group.allSatisfy({ $0.runs > 0 }) { try await Task.sleep(for: Self.delay) }
                for (var waiting, output) in zip(group, try await body(group.map(\.input))) {
                    waiting.runs += 1
                    if let output {
                        waiting.continuation.resume(returning: output)
                    } else if waiting.runs == Self.runsMax {
                        waiting.continuation.resume(throwing: TriedTooOften())
                    } else {
                        again.append(waiting)
                    }
                }
                state.withLock { $0.waiting += again }
            } catch {
                for waiting in group { waiting.continuation.resume(throwing: error) }
            }
        }
    }

    private func next() -> [Waiting]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting.removeFirst(min(Self.groupMax, state.waiting.count)) }
            return Array(state.waiting.prefix(Self.groupMax))
        }
    }
}
