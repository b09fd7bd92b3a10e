import BlockingCalls
import Ledger
import Testing

@Suite struct SimulationTests {
    /// In the last of them a paused process has commands left to decide when everything is folded.
    private static let fixedSeeds = Array(UInt64(1)...72) + [90_149_657_790_437]

    @Test func `the fixed seeds hold, and reach every event, answer and fault`() async {
        let run = await SeedRun.run(Self.fixedSeeds)
        await record(run.failures)
        guard run.failures.isEmpty else { return }
        // No client of the simulator imports accounts, or asks for so many codes.
        let others: Set<Event.Name> = [.signInThrottled, .accountNamed]
        for name in Event.Name.allCases where !others.contains(name) {
            #expect(run.events[name, default: 0] > 0, "no \(name.rawValue) in any log")
        }
        for fault in Fault.allCases {
            #expect(run.faults[fault, default: 0] > 0, "no \(fault) happened")
        }
        let answers = [
            "signedIn", "linked", "unlinked", "signedOut", "refreshed", "refreshed again",
            "conflict heldByOther", "conflict alreadyYours", "conflict providerTaken",
            "sessionEnded", "rateLimited", "onlyProvider", "reauthenticationRequired",
            "invalidRefreshToken", "invalidProviderToken", "idempotencyKeyReused",
            "providerNotLinked", "accountNotFound", "overloaded", "unavailable",
            "internalFailure", "erased", "holdSet", "holdLifted", "legalHold", "accountErased",
            "mergePlanned", "merged", "unmerged", "mergeSuperseded", "sameAccount",
            "relinked", "relinkRefused", "accessChanged", "accountDisabled", "waited too long",
            "unlinkPlanned", "unlinkPlanEnded", "unlinked by support", "addressUnused",
        ]
        for answer in answers {
            #expect(run.answers[answer, default: 0] > 0, "no answer was \(answer)")
        }
        #expect(run.sharedBatches > 100)
    }

    @Test func `a seed always gives the same trace`() async {
        for seed in UInt64(1)...3 {
            let first = await trace(of: seed)
            let second = await trace(of: seed)
            #expect(first.count > 100)
            #expect(first == second)
        }
    }

    private func trace(of seed: UInt64) async -> [String] {
        await BlockingExecutor.simulations.run {
            Simulation.run(Parameters(seed: seed), keepsTrace: true).lines
        }
    }

    private func record(_ failures: [SimulationReport]) async {
        for report in failures {
            let story = await BlockingExecutor.simulations.run { Shrinking.story(of: report) }
            Issue.record(Comment(rawValue: story))
        }
    }
}
