import Foundation

/// Executes one target, in a process of its own that a bug may take down.
struct Worker {
    private static let checkEvery = 256

    let options: Options
    let target: FuzzTarget

    /// Executes until the number or the time is reached, or a property is violated.
    ///
    /// Notes the number of each execution before it begins, so that the process that waits knows
    /// which one ended this one.
    func run() async throws -> Notes.Outcome {
        let notes = try Notes(writingTo: options.directory)
        if let input = options.input { return try await single(input, 0, notes) }
        if let at = options.at {
            return try await single(target.input(seed: options.seed, execution: at), at, notes)
        }
        let parent = getppid()
        let started = ContinuousClock.now
        let deadline = started + .seconds(options.secondsMax)
        var outcome = Notes.Outcome()
        for execution in 0..<options.executions {
            if execution % Self.checkEvery == 0,
                ContinuousClock.now > deadline || getppid() != parent
            {
                break
            }
            try notes.begin(execution)
            do {
                let input = target.input(seed: options.seed, execution: execution)
                if try await target.run(input) { outcome.accepted += 1 }
            } catch {
                outcome.finding = "\(error)"
                outcome.executions = execution
                return outcome
            }
            outcome.executions += 1
        }
        outcome.seconds = (ContinuousClock.now - started) / .seconds(1)
        return outcome
    }

    private func single(
        _ input: [UInt8], _ execution: Int, _ notes: Notes
    ) async throws -> Notes.Outcome {
        try notes.begin(execution)
        var outcome = Notes.Outcome()
        do {
            outcome.accepted = try await target.run(input) ? 1 : 0
            outcome.executions = 1
        } catch {
            outcome.finding = "\(error)"
            outcome.executions = execution
        }
        return outcome
    }
}
