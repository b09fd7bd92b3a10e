import Testing

/// Rows are read by the names of their columns, and never by numbers in the source.
@Suite struct ColumnNameTests {
    private static let modules = ["LedgerPostgres", "LedgerAudit", "account-ledger"]
    /// Readers of COPY, whose rows have no names: the query stands beside the reader.
    private static let excepted: Set = [
        "DisclosureReader.swift", "LogExport.swift", "LogRange.swift", "MerkleSearch.swift",
        "SealRange.swift", "SealState.swift", "TableScan.swift",
    ]

    @Test func `rows are read by the names of their columns, but for listed files`() throws {
        let files = try SourceTree(Self.modules.map { "Sources/" + $0 }).files
        #expect(files.count > 100)
        var found: Set<String> = []
        for file in files {
            let name = file.path.split(separator: "/").last.map(String.init) ?? ""
            for reader in Self.numbered(in: file.lines.joined(separator: "\n")) {
                found.insert(name)
                #expect(Self.excepted.contains(name), "\(file): \(reader)")
            }
        }
        let obsolete = Self.excepted.subtracting(found)
        #expect(obsolete.isEmpty, "listed, but no longer true: \(obsolete)")
    }

    @Test(arguments: [
        "result.text(row, 1)", "results[0].optionalBytes(0, 12)", "rows.uuid($0, 3)",
        "result.timestamp(\n    row, 2)", "row.int8(1)", "$0.isNull(4)", "latest.textArray(row, 2)",
        "RulesLoad.rules(result, row, from: 2)", "try result.tenant(row + 1, 1)",
    ]) func `a column by its number is reported`(_ source: String) {
        #expect(Self.numbered(in: source).count == 1)
    }

    @Test(arguments: [
        "result.text(row, at.name)", "result.int8(row, 0)", "result.int8(3, 0)", "row.int8(at.id)",
        "[.int8(1), .text(name)]", "SecureRandom.bytes(8)", "prefix(row, 2)",
    ]) func `other code is not reported`(_ source: String) {
        #expect(Self.numbered(in: source).isEmpty)
    }

    /// Returns the calls of readers with a number from 1 as the column.
    ///
    /// The first column is often a single one, or the number of the row's request.
    private static func numbered(in source: String) -> [Substring] {
        let readers: [Regex<Substring>] = [
            // Of a result, with the row.
            #/
            \.(?:isNull|text|bytes|uuid|int[48]|bool|timestamp|optional\w+|\w+Array
                |tenant|provider|digest|count)\(\s*[^(),]+,\s*[1-9][0-9]*\s*\)
            /#,
            // Of a copied row.
            /(?:row|\$0)\.(?:isNull|text|bytes|uuid|int8)\([1-9][0-9]*\)/,
            // Of several columns from this one on.
            /row,\s*\w+:\s*[1-9][0-9]*\s*\)/,
        ]
        return readers.flatMap { source.matches(of: $0).map(\.output) }
    }
}
