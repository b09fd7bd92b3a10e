import Foundation
import LedgerTestSupport
import Testing

/// The ranges of settings that README lists.
@Suite struct SettingRangeTests {
    /// Each setting with a numeric default, from its row.
    private static var rows: [(name: String, range: ClosedRange<Int64>?)] {
        get throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let text = try String(
                contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
            return text.split(separator: "\n").compactMap { line in
                guard let row = line.wholeMatch(of: /\| `(LEDGER_\w+)` \| \d+ \| (.+) \|/) else {
                    return nil
                }
                let range = row.output.2.firstMatch(of: /; (\d+) to (\d+)$/).flatMap { range in
                    Int64(range.output.1).flatMap { low in Int64(range.output.2).map { low...$0 } }
                }
                return (String(row.output.1), range)
            }
        }
    }

    @Test func `README has the range of every number, and no number outside is taken`() async throws
    {
        let rows = try Self.rows
        #expect(rows.count >= 9)
        let help = try await CommandLineTool(environment: [:]).run(["serve", "--help"]).output
        for (name, range) in rows {
            let range = try #require(range, "\(name) has no range")
            let words = "\(range.lowerBound) to \(range.upperBound)"
            let said = help.split(separator: "\n").drop { !$0.hasPrefix("  \(name) ") }.dropFirst()
            #expect(said.first?.hasSuffix("; \(words)") == true, "\(name) in the help")
            for wrong in [range.lowerBound - 1, range.upperBound + 1] {
                let tool = CommandLineTool(environment: [
                    "DATABASE_URL": "postgres://nowhere", "LEDGER_KEYS": "/nowhere",
                    "LEDGER_PROVIDERS": "/nowhere", name: "\(wrong)",
                ])
                let outcome = try await tool.run(["serve"])
                #expect(outcome.status == 1)
                #expect(
                    outcome.errors.contains("\(name) must be a whole number from \(words)"),
                    "\(outcome.errors)")
            }
        }
        let named = help.matches(of: /; \d+ to \d+\n/)
        #expect(named.count == rows.count, "every number of the help is in README")
    }
}
