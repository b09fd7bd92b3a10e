import LedgerImport
import Testing

/// Rows of CSV files and of dumps.
@Suite struct TextRowsTests {
    private static func rows(
        _ text: [UInt8], _ form: TextRows.Form, partBytes: Int = 3
    ) throws -> [String] {
        var rest = text[...]
        var rows = TextRows(form) { () throws(ImportFault) in
            defer { rest = rest.dropFirst(partBytes) }
            return Array(rest.prefix(partBytes))
        }
        var seen: [String] = []
        while true {
            switch try rows.next() {
            case .end: return seen
            case .flaw(let flaw, let line): seen.append("\(line) \(flaw.rawValue)")
            case .row(let row):
                seen.append(
                    "\(row.line) " + row.fields.map { $0 ?? "NULL" }.joined(separator: "|"))
            }
        }
    }

    @Test(arguments: [1, 2, 7, 4096])
    func `quotes hold commas, quotes and line ends, and rows know their lines`(part: Int) throws {
        let text = "a,b,c\r\n1,\"x, \"\"y\"\"\nz\",\n\"\",2,3"
        #expect(
            try Self.rows(Array(text.utf8), .csv, partBytes: part)
                == ["1 a|b|c", "2 1|x, \"y\"\nz|NULL", "4 |2|3"])
    }

    @Test(arguments: [1, 4096])
    func `an empty line of CSV is no row`(part: Int) throws {
        #expect(
            try Self.rows(Array("\n\r\na,b\n\n1,\n\"\"\n\n".utf8), .csv, partBytes: part)
                == ["3 a|b", "5 1|NULL", "6 "])
    }

    @Test func `misplaced quotes and other encodings are flaws of their row alone`() throws {
        let text = Array("a\nx\"y\",1\n\"a\"b\n".utf8) + [0xFF, 0x0A] + Array("ok,\"\"\n".utf8)
        #expect(
            try Self.rows(text, .csv)
                == [
                    "1 a", "2 malformed_record", "3 malformed_record", "4 malformed_record",
                    "5 ok|",
                ])
    }

    @Test func `a row that is too long is a flaw, and the next one is read`() throws {
        let long = Array(repeating: UInt8(ascii: "x"), count: TextRows.rowBytesMax + 1)
        #expect(
            try Self.rows(long + Array("\nok".utf8), .csv, partBytes: 65_536)
                == ["1 record_too_long", "2 ok"])
    }

    @Test func `a dump escapes tabs, line ends and backslashes, and has NULL`() throws {
        #expect(
            try Self.rows(Array("a\\tb\t\\N\t\nc\\\\d\\n\t\"\n".utf8), .copyText)
                == ["1 a\tb|NULL|", "2 c\\d\n|\""])
    }

    @Test func `a quote that is never closed is a fault of its line, and stays one`() throws {
        var rest = Array("a\n\"b\nc\n".utf8)[...]
        var rows = TextRows(.csv) { () throws(ImportFault) in
            defer { rest = [] }
            return Array(rest)
        }
        guard case .row = try rows.next() else {
            Issue.record("no first row")
            return
        }
        for _ in 0..<2 {
            #expect(throws: ImportFault.malformed(line: 2)) { try rows.next() }
        }
    }
}
