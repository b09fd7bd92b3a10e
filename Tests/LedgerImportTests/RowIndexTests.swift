import Testing

@testable import LedgerImport

/// Rows that are found by a key of each.
@Suite struct RowIndexTests {
    /// The file has more than one part of what is read at a place, and rows that begin in one and end in the next.
    private static let text =
        "key,value\n"
        + (0..<2000).map { "k\($0 % 500),\"\($0)\"\"\"\n" }.joined() + "last,no line end"

    @Test(arguments: [0, RowIndex.keptBytesMax], ["", "\u{FEFF}"])
    func `the rows of a key are found in their order, in memory or in the file`(
        keptBytesMax: Int, mark: String
    ) throws {
        try AccountFileTests.with([mark + Self.text]) { paths in
            let path = try #require(paths.first)
            var file = try ImportFile(path: path)
            var rows = TextRows(.csv) { () throws(ImportFault) in try file.next() }
            let index = try RowIndex(&rows, .csv, path: path, keptBytesMax: keptBytesMax) {
                $0.first.flatMap(\.self)
            }
            for number in [0, 7, 499] {
                let found = try index.rows(of: "k\(number)").map { $0.compactMap(\.self) }
                #expect(found == (0..<4).map { ["k\(number)", "\(number + 500 * $0)\""] })
            }
            #expect(try index.rows(of: "last") == [["last", "no line end"]])
            #expect(try index.rows(of: "k500").isEmpty)
        }
    }
}
