import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

/// The findings of `verify` on the access log, which is not signed.
@Suite struct AccessLogCheckTests {
    /// A change to ten rows, and the start of its finding; nil for one that is not found.
    static let damages: [(String, String?)] = [
        ("SELECT 1", nil),
        ("DELETE FROM access_log WHERE position = 4", "the row at its position 4 is missing"),
        ("DELETE FROM access_log WHERE position = 0", "the row at its position 0 is missing"),
        ("DELETE FROM access_log WHERE position = 9", "its head is at 10, its rows end at 9"),
        ("DELETE FROM access_log", "its head is at 10, its rows end at 0"),
        ("DELETE FROM access_heads", "its head is at 0, its rows end at 10"),
        // Listed in docs/append-only.md as not found.
        (
            """
            DELETE FROM access_log WHERE position = 9;
            UPDATE access_heads SET next_position = 9
            """, nil
        ),
        ("UPDATE access_log SET principal = 'somebody else' WHERE position = 4", nil),
    ]

    @Test(arguments: damages)
    func `a missing row of the access log is found`(
        sql: String, finding: String?
    ) async throws {
        try await ErasureFixture.with(owner: .plain) { fixture in
            try await fixture.database.asSuperuser.execute(
                """
                INSERT INTO access_log (tenant_id, position, accessed_at, principal, role, action,
                    details, disclosed, outcome)
                SELECT 'default', n, now(), 'operator', 'admin', 'x', '{}', false, 'allowed'
                FROM generate_series(0, 9) n;
                INSERT INTO access_heads VALUES ('default', 10, now());
                ALTER TABLE access_log DISABLE TRIGGER USER;
                \(sql)
                """)
            let report = try await fixture.verify()
            let texts = report.findings.map(\.text)
            #expect(texts == (finding.map { [$0] } ?? []))
            #expect(report.findings.allSatisfy { $0.check == .accessLog })
        }
    }
}
