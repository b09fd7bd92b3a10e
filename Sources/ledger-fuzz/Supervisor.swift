import Foundation
import Synchronization

/// Starts a worker process for each target, supervises it, and reports its finding or crash.
struct Supervisor: Sendable {
    private static let jobs = 2

    let program: URL
    let options: Options

    /// The result of one target.
    private struct Line: Sendable {
        let name: String
        var outcome = Notes.Outcome()
        /// Nil on success.
        var failure: String?
        /// The failing input; nil when the target itself could not be made.
        var input: [UInt8]?
    }

    /// Runs every requested target; false when one of them failed.
    func run() async throws -> Bool {
        let plan = plan()
        let started = ContinuousClock.now
        say("seed \(options.seed)")
        let directory = NSTemporaryDirectory() + "ledger-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let lines = try await withThrowingTaskGroup(of: Line.self) { group in
            var waiting = plan[...]
            var lines: [Line] = []
            func startNext() {
                guard let next = waiting.popFirst() else { return }
                group.addTask {
                    try await execute(next.name, next.executions, directory + "/" + next.name)
                }
            }
            for _ in 0..<Self.jobs { startNext() }
            while let line = try await group.next() {
                report(line)
                lines.append(line)
                startNext()
            }
            return lines
        }
        let total = lines.map(\.outcome.executions).reduce(0, +)
        let failed = lines.filter { $0.failure != nil }
        let seconds = Int((ContinuousClock.now - started) / .seconds(1))
        say(
            "\(total) executions of \(lines.count) targets in \(seconds) s, \(failed.count) failed")
        let planned = plan.map(\.executions).reduce(0, +)
        if failed.isEmpty, total < planned {
            say("the time was over before \(planned) executions")
        }
        return failed.isEmpty
    }

    /// Returns the targets with their executions, the slow ones first.
    private func plan() -> [(name: String, executions: Int)] {
        if let name = options.target {
            return [(name: name, executions: options.executions)]
        }
        let shares = Catalogue.shares
        let sum = shares.map(\.share).reduce(0, +)
        return shares.reversed().map { name, share in
            (name: name, executions: (options.executions * share + sum - 1) / sum)
        }
    }

    private func execute(
        _ name: String, _ executions: Int, _ directory: String
    ) async throws -> Line {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = program
        process.arguments = options.words(
            target: name, executions: executions, directory: directory)
        if options.at == nil, options.input == nil {
            // Many executions may crash in the same way; a repeated one shows the location.
            process.environment = ProcessInfo.processInfo.environment
                .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        }
        let ended = Atomic(false)
        process.terminationHandler = { _ in ended.store(true, ordering: .releasing) }
        try process.run()
        var last: Int?
        var quietSince = ContinuousClock.now
        var isHanging = false
        while !ended.load(ordering: .acquiring) {
            try await Task.sleep(for: .milliseconds(50))
            let begun = Notes.lastBegun(directory)
            if begun != last {
                last = begun
                quietSince = .now
            } else if !isHanging, ContinuousClock.now - quietSince > .seconds(options.hangSeconds) {
                isHanging = true
                kill(process.processIdentifier, SIGKILL)
            }
        }
        var line = line(name, process, directory, isHanging: isHanging)
        if line.failure != nil {
            // The same input is generated again here, because the worker may have crashed.
            var quiet = options
            quiet.directory = directory
            let target = try? await Catalogue.target(name, quiet)
            line.input =
                options.input
                ?? target?.input(seed: options.seed, execution: line.outcome.executions)
        }
        return line
    }

    private func line(
        _ name: String, _ process: Process, _ directory: String, isHanging: Bool
    ) -> Line {
        var line = Line(name: name)
        if let outcome = Notes.outcome(directory), process.terminationReason == .exit {
            line.outcome = outcome
            line.failure = outcome.finding
            return line
        }
        line.outcome.executions = Notes.lastBegun(directory) ?? 0
        if isHanging {
            line.failure = "did not end within \(options.hangSeconds) s"
        } else if process.terminationReason == .uncaughtSignal {
            line.failure = "crashed by signal \(process.terminationStatus)"
        } else {
            line.failure = "ended with status \(process.terminationStatus)"
        }
        return line
    }

    private func report(_ line: Line) {
        let name = line.name.padding(toLength: 18, withPad: " ", startingAt: 0)
        guard let failure = line.failure else {
            let outcome = line.outcome
            let share = outcome.accepted * 100 / max(1, outcome.executions)
            let each = outcome.seconds * 1_000_000 / Double(max(1, outcome.executions))
            say(
                "\(name) \(outcome.executions) executions, \(share) % accepted, \(Int(each)) us each"
            )
            return
        }
        say("\(name) FAILED: \(failure)")
        say("    target \(line.name), seed \(options.seed), execution \(line.outcome.executions)")
        if let input = line.input {
            say("    input (base64): \(Data(input).base64EncodedString())")
            let shown = String(decoding: input.prefix(200), as: UTF8.self)
            say("    input (text):   \(shown.debugDescription)")
        }
        let how = options.input == nil ? "--at \(line.outcome.executions)" : "--input ..."
        say("    again:          tools/fuzz --target \(line.name) --seed \(options.seed) \(how)")
    }
}
