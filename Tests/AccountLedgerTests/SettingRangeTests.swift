import CommandLine
import Foundation
import Testing

@testable import account_ledger

/// The ranges of settings that the docs list.
@Suite struct SettingRangeTests {
    /// Each setting with a numeric default, from its row.
    private static var rows: [(name: String, range: ClosedRange<Int64>?)] {
        get throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let text = try String(
                contentsOf: root.appendingPathComponent("docs/configuration.md"), encoding: .utf8)
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

    @Test func `the docs have the range of every number, and no number outside is accepted`() throws
    {
        let rows = try Self.rows
        #expect(rows.count >= 9)
        let help = try Program.accountLedger.help(about: ["serve"])
        for (name, range) in rows {
            let range = try #require(range, "\(name) has no range")
            let words = "\(range.lowerBound) to \(range.upperBound)"
            let said = help.split(separator: "\n").drop { !$0.hasPrefix("  \(name) ") }.dropFirst()
            #expect(said.first?.hasSuffix("; \(words)") == true, "\(name) in the help")
            for wrong in [range.lowerBound - 1, range.upperBound + 1] {
                let setting = try #require(Setting(rawValue: name))
                let error = #expect(throws: Fault.self) {
                    try Environment([name: "\(wrong)"]).number(setting)
                }
                let line = try #require(error).description
                #expect(line.contains("\(name) must be a whole number from \(words)"), "\(line)")
            }
        }
        let named = help.matches(of: /; \d+ to \d+\n/)
        #expect(named.count == rows.count, "every number of the help is in the docs")
    }
}
