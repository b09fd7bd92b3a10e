import Foundation
import LedgerImport
import Testing

@testable import account_ledger

/// The report of an import.
@Suite struct ProblemFileTests {
    @Test func `a batch's problems are in the file before the import ends`() throws {
        let path = NSTemporaryDirectory() + "account-ledger-report-" + UUID().uuidString
        let file = try NewFile(path: path)
        let report = try ProblemFile(file)
        report.add(.noWay, line: 1)
        report.add(ImportProblem("username", isOfKept: true), line: 2)
        report.flush()
        let lines = try String(contentsOfFile: file.partialPath, encoding: .utf8)
        #expect(
            lines == """
                {"line":1,"problem":"no_way_to_sign_in"}
                {"line":2,"problem":"username","account":"kept"}

                """)
    }
}
