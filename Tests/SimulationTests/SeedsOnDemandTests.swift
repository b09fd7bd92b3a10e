import BlockingCalls
import Foundation
import Ledger
import Testing

/// The tests of `tools/simulate`: a number of seeds, or one seed with its trace.
@Suite struct SeedsOnDemandTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["SIMULATE_SEED"].flatMap { UInt64($0) }
    private static let count = environment["SIMULATE_SEEDS"].flatMap { UInt64($0) }

    @Test(.enabled(if: count != nil)) func `the requested seeds hold`() async throws {
        let count = try #require(Self.count)
        let first = Self.first ?? .random(in: 0..<1 << 48)
        let start = ContinuousClock.now
        let run = await SeedRun.run(
            (0..<count).lazy.map { first &+ $0 },
            on: (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
                BlockingExecutor(label: "simulations")
            })
        let duration = ContinuousClock.now - start
        let seconds =
            Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let faultCount = run.faults.values.reduce(0, +)
        let rates = [(run.steps, "steps"), (run.commands, "commands"), (faultCount, "faults")]
            .map { "\($0.0) \($0.1) (\(Int(Double($0.0) / seconds))/s)" }
        print(
            "\(run.seeds) seeds from \(first) in \(Int(seconds)) s: \(rates.joined(separator: ", "))"
        )
        print("fingerprint \(String(run.fingerprint, radix: 16)): the same for the same seeds")
        print("events: \(SeedRun.line(run.events, name: \.rawValue))")
        print("answers: \(SeedRun.line(run.answers) { $0 })")
        print("faults: \(SeedRun.line(run.faults, name: \.rawValue))")
        for report in run.failures {
            print(Shrinking.story(of: report))
        }
        #expect(run.failures.map(\.parameters.seed) == [])
    }

    @Test(.enabled(if: first != nil && count == nil)) func `the requested seed holds`()
        throws
    {
        let report = Simulation.run(
            Parameters(seed: try #require(Self.first)), keepsTrace: true)
        let fingerprint = String(fingerprint(report.lines.lazy.flatMap(\.utf8)), radix: 16)
        print("seed \(report.parameters.seed): \(report.parameters)")
        print("trace of \(report.lines.count) lines, fingerprint \(fingerprint)")
        if let path = Self.environment["SIMULATE_TRACE"] {
            try report.lines.joined(separator: "\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
        }
        if !report.contradictions.isEmpty { print(Shrinking.story(of: report)) }
        #expect(report.contradictions == [])
    }
}
