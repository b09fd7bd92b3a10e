import BlockingCalls
import Testing

@Suite struct PlantedBugTests {
    /// The maximum number of seeds needed to find a planted bug.
    private static let seedsMax: UInt64 = 60

    /// One test: as many as there are bugs would take the places of other tests and wait for one thread.
    @Test func `every planted bug is found`() async {
        for bug in PlantedBug.allCases {
            guard let report = await find(bug) else {
                Issue.record("\(bug) was not found in \(Self.seedsMax) seeds")
                continue
            }
            // The failure is due to the bug, not to the seed.
            let sound = await BlockingExecutor.simulations.run { Simulation.run(report.parameters) }
            #expect(sound.contradictions == [], "\(bug)")
        }
    }

    @Test func `a failure is reported with its seed and shrunk`() async {
        let story = await BlockingExecutor.simulations.run {
            Shrinking.story(
                of: Simulation.run(Parameters(seed: 1), bug: .ackBeforeCommit),
                bug: .ackBeforeCommit)
        }
        #expect(story.contains("tools/simulate --seed 1\n"))
        #expect(story.contains("1 clients of 1 operations, 1 processes, 1 tenants"))
        #expect(story.contains("faults: none"))
    }

    private func find(_ bug: PlantedBug) async -> SimulationReport? {
        for seed in 1...Self.seedsMax {
            let report = await BlockingExecutor.simulations.run {
                Simulation.run(Parameters(seed: seed), bug: bug)
            }
            guard report.contradictions.isEmpty else { return report }
        }
        return nil
    }
}
