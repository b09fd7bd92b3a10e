import Testing

@testable import LedgerPostgres

/// Performs each tampering of the table in `docs/append-only.md`, and holds the table against who noticed.
@Suite struct TamperTableTests {
    @Test func `the table of tamperings says who notices what, and where`() async throws {
        let table = try TamperTable()
        #expect(table.names == Tampering.all.map(\.name), "the rows are other ones")
        try await PreparedLedger.with { ledger in
            try await ledger.copy()
            let level = try await Witnesses.level(of: ledger)
            let untouched = try await Witnesses(of: ledger, guardedAt: level)
            #expect(untouched.cells(at: nil) == ["no", "no", "no", "-"], "\(untouched)")
            for tampering in Tampering.all {
                try await ledger.copy()
                do {
                    try await tampering.act(ledger)
                    let witnesses = try await Witnesses(of: ledger, guardedAt: level)
                    let row = [tampering.name] + witnesses.cells(at: tampering.position)
                    if table.rows[tampering.name] != row {
                        Issue.record("the row has to be\n\(TamperTable.line(row))\n\(witnesses)")
                    }
                } catch {
                    Issue.record("\(tampering.name): \(error)")
                }
            }
        }
    }
}
