import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

/// The summary of a verification.
@Suite struct VerificationSummaryTests {
    @Test(arguments: [Int64(3), 2_000])
    func `accounts and read models are counted, with their positions`(
        rangeEvents: Int64
    ) async throws {
        try await HistoryFixture.with { history in
            let report = try await history.verify(rangeEvents: rangeEvents)
            #expect(report.holds, "\(report.findings)")
            #expect(report.completeAccounts == 2)
            #expect(report.equalTableCount == 3)
            #expect(
                Set(report.equalTables.map { "\($0.tenant) \($0.projection) \($0.size)" })
                    == [
                        "default user_providers 12", "default account_audit 12",
                        "default conflicts 12",
                    ])
        }
    }

    @Test func `a differing table is not listed as equal`() async throws {
        try await HistoryFixture.with { history in
            try await history.damage("UPDATE user_providers_1 SET provider = 'facebook'")
            let report = try await history.verify()
            #expect(!report.holds)
            #expect(report.equalTables.isEmpty)
            #expect(report.completeAccounts == 0)
        }
    }
}
