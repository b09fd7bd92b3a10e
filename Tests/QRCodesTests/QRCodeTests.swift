import QRCodes
import Testing

/// The modules of QR codes.
@Suite struct QRCodeTests {
    /// The finder pattern of three corners (ISO/IEC 18004, section 6.3.3).
    private static let finder = [
        "1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111",
    ]

    @Test func `a code has its finder and timing patterns`() throws {
        let code = try #require(QRCode("otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP"))
        let rows = code.rowTexts
        #expect(rows.allSatisfy { $0.count == rows.count })
        #expect((rows.count - 17).isMultiple(of: 4))
        for (index, row) in Self.finder.enumerated() {
            #expect(rows[index].hasPrefix(row + "0") && rows[index].hasSuffix("0" + row))
            #expect(rows[rows.count - 7 + index].hasPrefix(row + "0"))
        }
        let timing = code.rows[6][8..<(rows.count - 8)]
        #expect(Array(timing) == timing.indices.map { $0.isMultiple(of: 2) })
    }

    @Test func `texts differ in their codes, and longer ones have larger codes`() throws {
        let short = try #require(QRCode("a"))
        #expect(short != QRCode("b"))
        #expect(short == QRCode("a"))
        let long = try #require(QRCode(String(repeating: "é", count: QRCode.bytesMax / 2)))
        #expect(long.rows.count > short.rows.count)
    }

    @Test func `an empty or too long text has no code`() {
        #expect(QRCode("") == nil)
        #expect(QRCode(String(repeating: "a", count: QRCode.bytesMax + 1)) == nil)
    }
}
