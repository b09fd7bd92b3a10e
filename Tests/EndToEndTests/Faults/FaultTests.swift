import LedgerTestSupport
import Testing

/// The guarantees under faults; each suite in this folder injects one kind.
///
/// One after another, because each looks at times.
@Suite(.serialized) struct FaultTests {
    /// The longest time of an answer during a fault: 5 s until the command starts, 6 s for its transaction,
    /// and the delays of a busy machine.
    static let slowestAnswer = Duration.seconds(13)

    /// Checks that nothing is lost, duplicated or incomplete, that every answer is in time and either a
    /// success or a 503 with `Retry-After`, and that the database is sound.
    static func expectSurvived(
        _ outcome: FaultTrial.Outcome, slowestAnswer: Duration = FaultTests.slowestAnswer,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (count, reckoning) = (outcome.count, outcome.reckoning)
        let findings: [(String, Bool)] = [
            ("lost \(reckoning.lost): \(reckoning.findings)", reckoning.lost == 0),
            ("doubled \(reckoning.doubled): \(reckoning.findings)", reckoning.doubled == 0),
            ("halves \(reckoning.halves): \(reckoning.findings)", reckoning.halves == 0),
            ("broken promises: \(outcome.broken)", outcome.broken.isEmpty),
            ("unexpected answers: \(count.surprises)", count.surprises.isEmpty),
            ("503 without Retry-After: \(count.withoutRetryAfter)", count.withoutRetryAfter == 0),
            ("slowest answer \(count.slowestAnswer)", count.slowestAnswer <= slowestAnswer),
            ("slowest silence \(count.slowestSilence)", count.slowestSilence <= slowestAnswer),
            ("verify: \(outcome.verified.output)", outcome.verified.status == 0),
            ("pg_amcheck: \(outcome.corruption)", outcome.corruption.isEmpty),
        ]
        for (finding, isWell) in findings {
            #expect(
                isWell, "\(outcome.fault): \(finding.prefix(2_000))",
                sourceLocation: sourceLocation)
        }
    }
}
