import Testing

/// Performs each tampering of the table in `docs/append-only.md`, and compares the results with the table.
@Suite struct TamperTableTests {
    /// The number of ledgers, which are prepared and tampered with concurrently.
    private static let parts = 4

    @Test func `the table has a row for each tampering`() throws {
        let table = try TamperTable()
        #expect(table.names == Tampering.all.map(\.name), "the rows are other ones")
        #expect(Set(table.unnoticed).isSubset(of: table.names))
    }

    @Test(arguments: 0..<parts)
    func `the table of tamperings has the results of all checks`(part: Int) async throws {
        let table = try TamperTable()
        let tamperings = stride(from: part, to: Tampering.all.count, by: Self.parts).map {
            Tampering.all[$0]
        }
        try await PreparedLedger.with { ledger in
            try await ledger.copy()
            let untouched = try await Witnesses(of: ledger)
            #expect(untouched.areSilent, "\(untouched)")
            var unnoticed: [String] = []
            for tampering in tamperings {
                try await ledger.copy()
                do {
                    try await tampering.act(ledger)
                    let witnesses = try await Witnesses(of: ledger)
                    if witnesses.areSilent { unnoticed.append(tampering.name) }
                    let row =
                        [tampering.review.map { "\($0)" } ?? "-", tampering.name]
                        + witnesses.cells(at: tampering.position)
                    if table.rows[tampering.name] != row {
                        Issue.record("the row has to be\n\(TamperTable.line(row))\n\(witnesses)")
                    }
                } catch {
                    Issue.record("\(tampering.name): \(error)")
                }
            }
            let names = Set(tamperings.map(\.name))
            #expect(
                table.unnoticed.filter(names.contains) == unnoticed,
                "the undetected changes differ from those listed")
        }
    }

    @Test func `every case of the security review has its row`() {
        #expect(Tampering.all.compactMap(\.review).sorted() == Array(1...38))
    }
}
