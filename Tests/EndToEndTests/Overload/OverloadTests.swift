import LedgerTestSupport
import Testing

/// Overload, and malicious clients.
@Suite(.serialized) struct OverloadTests {
    /// The longest wait of a served request.
    private static let acceptedMillisecondsMax = OverloadTrial.isLong ? 3_000.0 : 10_000.0
    /// The longest wait for a refusal: a second, and the delays of a busy machine.
    private static let refusedMillisecondsMax = OverloadTrial.isLong ? 2_500.0 : 8_000.0
    /// The minimum of a crowd's accepted work relative to the peak.
    ///
    /// A short round only detects gross errors. The tests run it alone.
    private static let partOfPeak = OverloadTrial.isLong ? 0.8 : 0.1
    /// The same minimum by the clock: waiting costs no processor time.
    private static let paceOfPeak = OverloadTrial.isLong ? 0.4 : 0
    /// The minimum number of busy processors under overload.
    ///
    /// It also applies to the peak, where a service that always waits is slow, too. In a short round the
    /// server is a debug build and other tests are busy, so the number means nothing.
    private static let busyProcessors = OverloadTrial.isLong ? 0.6 : 0
    private static let memoryMebibytesMax = 200.0
    /// Many people, so that each signs in rarely: a person's recent sign-ins are counted each time.
    private static let people = OverloadTrial.isLong ? 20_000 : 1_600

    @Test func `many clients are served as fast as a few, and the rest is refused`()
        async throws
    {
        let isLong = OverloadTrial.isLong
        try await OverloadTrial.with(people: Self.people) { trial in
            // Every client has an account before the measurement.
            let first = try await trial.signIns(connections: 64, seconds: isLong ? 10 : 2)
            let peak = try await trial.signIns(connections: 64, seconds: isLong ? 15 : 2)
            try trial.report("the peak", peak, peak: peak)
            var all = [first, peak]
            for connections in isLong ? [640, 6_400] : [640, 3_200] {
                let told = try await trial.signIns(
                    connections: connections, seconds: isLong ? 30 : 3)
                try trial.report("a crowd", told, peak: peak)
                expectOrder(in: told, peak: peak)
                all.append(told)
            }
            let calm = try await trial.signIns(connections: 64, seconds: isLong ? 10 : 2)
            try trial.report("at once afterwards", calm, peak: peak)
            expectOrder(in: calm, peak: peak)
            #expect(calm.report.refused.count == 0)
            all.append(calm)
            #expect(peak.busyProcessors >= Self.busyProcessors, "\(peak)")
            // Those whose answers came too late for their clients are in the log as well.
            let told = all.reduce(0) { $0 + $1.report.accepted.count }
            let untold = all.reduce(0) { $0 + $1.report.connections }
            let inLog = try await trial.signInsInLog()
            #expect((told...told + untold).contains(inLog))
            try await expectVerified(trial.deployment)
        }
    }

    @Test(arguments: Crowd.Nuisance.allCases)
    func `clients that are slow or say nothing do not hold the others up`(
        nuisance: Crowd.Nuisance
    ) async throws {
        let isLong = OverloadTrial.isLong
        try await OverloadTrial.with(people: Self.people) { trial in
            // Every client has an account before the measurement.
            _ = try await trial.signIns(connections: 64, seconds: isLong ? 10 : 1)
            let peak = try await trial.signIns(connections: 64, seconds: isLong ? 10 : 2)
            let beside = try await trial.crowd.withNuisance(
                trial.server, by: nuisance, connections: 1_000
            ) {
                try await trial.signIns(connections: 64, seconds: isLong ? 20 : 2)
            }
            try trial.report("beside 1,000 \(nuisance) clients", beside, peak: peak)
            expectOrder(in: beside, peak: peak)
            #expect(beside.report.refused.count == 0)
        }
    }

    /// Four batches' worth of commands wait while no transaction ends in time; the first requests of a
    /// process are among them.
    @Test func `many waiting clients do not prolong the wait for a stalled disk`() async throws {
        let answerMax = FaultTests.slowestAnswer / .milliseconds(1)
        let switches = try await FaultSwitches()
        try await OverloadTrial.with(
            people: Self.people, clusterEnvironment: switches.environment
        ) { trial in
            try switches.begin(.diskSlow, 12_000)
            let report = try await trial.signIns(connections: 1_000, seconds: 20).report
            try switches.end(.diskSlow)
            #expect(report.refused.count >= 1_000, "\(report)")
            #expect(report.refused.longestMilliseconds <= answerMax, "\(report)")
            #expect(report.accepted.longestMilliseconds <= answerMax, "\(report)")
            #expect(report.outstandingLongestMilliseconds <= answerMax, "\(report)")
            #expect(report.other == 0 && report.cut == 0 && report.withoutRetryAfter == 0)
            try await eventually("sign-ins on a disk that works") {
                try await trial.signIns(connections: 8, seconds: 1).report.accepted.count > 0
                    ? true : nil
            }
            try await expectVerified(trial.deployment)
        }
    }

    private func expectOrder(
        in figures: Figures, peak: Figures, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let told = figures.report
        let isInTime =
            told.accepted.longestMilliseconds <= Self.acceptedMillisecondsMax
            && told.refused.p99Milliseconds <= Self.refusedMillisecondsMax
            && told.outstandingLongestMilliseconds <= Self.acceptedMillisecondsMax
        let isWell =
            told.other == 0 && told.cut == 0 && told.connectFailures == 0
            && told.withoutRetryAfter == 0
        let part = max(figures.rate(to: peak), figures.economy(to: peak))
        #expect(isInTime, "\(told)", sourceLocation: sourceLocation)
        #expect(isWell, "\(told)", sourceLocation: sourceLocation)
        #expect(part >= Self.partOfPeak, "\(told)", sourceLocation: sourceLocation)
        let pace = figures.pace(to: peak)
        #expect(pace >= Self.paceOfPeak, "\(pace): \(told)", sourceLocation: sourceLocation)
        #expect(
            figures.memoryMebibytes < Self.memoryMebibytesMax, "\(told)",
            sourceLocation: sourceLocation)
    }
}
