import Foundation
import LedgerExport
import Testing

/// The export formats for reading, which cannot be verified.
@Suite struct TableTests {
    @Test func `a cell that a spreadsheet would evaluate is text`() throws {
        let event = ExampleLog(count: 2).events[1]
        let row = CSVLines.row(event, isDisclosed: true)
        #expect(row.contains(",\"'=HYPERLINK(\"\"http://evil.example\"\")\"\r\n"))
        #expect(row.hasPrefix("\"1\","))
        #expect(
            row.split(separator: ",", omittingEmptySubsequences: false).count
                == CSVLines.header(isDisclosed: true).split(separator: ",").count)
        #expect(CSVLines.header(isDisclosed: true).hasPrefix("\"position\",\"recorded_at\","))
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a,b", "a,b"), ("say \"x\"", "say \"\"x\"\""),
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", "'\tx"),
        ("\rx", "'\rx"), ("\nx", "'\nx"), ("two\nlines", "two\nlines"), ("\r\n=x", "'\r\n'=x"),
        ("a=b", "a=b"), ("\u{FF1D}1", "'\u{FF1D}1"), ("\u{FF0B}1", "'\u{FF0B}1"),
        ("\u{FF0D}1", "'\u{FF0D}1"), ("\u{FF20}x", "'\u{FF20}x"),
        ("x;=HYPERLINK(\"a\")", "x;'=HYPERLINK(\"\"a\"\")"), ("x; \"=1", "x; \"\"'=1"),
        ("x\t@y", "x\t'@y"), ("x\n+y", "x\n'+y"), ("x\r\n-y", "x\r\n'-y"), ("x;;=1", "x;;'=1"),
        (" =1", " '=1"), ("x;y=1", "x;y=1"), ("\"=1", "\"\"'=1"),
    ])
    func `every cell is quoted, and formulas are defused wherever a cell may start`(
        text: String, cell: String
    ) {
        #expect(Array(CSVLines.cell(text).utf8) == Array("\"\(cell)\"".utf8))
    }

    @Test func `without disclosures, no row or line has personal data`() throws {
        let event = ExampleLog(count: 2).events[1]
        #expect(!CSVLines.row(event, isDisclosed: false).contains("example"))
        let line = String(decoding: JSONLines.line(event, isDisclosed: false), as: UTF8.self)
        #expect(!line.contains("disclosures"))
        #expect(!line.contains("example"))
    }

    @Test func `a line of JSON holds the exact entry and its disclosures`() throws {
        let event = ExampleLog(count: 2).events[1]
        let line = JSONLines.line(event, isDisclosed: true)
        let text = String(decoding: line, as: UTF8.self)
        #expect(text.contains("\"entry\":" + String(decoding: event.entry, as: UTF8.self) + "}"))
        let value = try #require(
            try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        let disclosed = try #require(value["disclosures"] as? [String: String])
        #expect(disclosed == ["email": "p1@example.org", "user_agent": ExampleLog.text])
    }
}
