import Encodings
import Testing

@testable import Passkeys

/// The reader of CBOR, against the encoding rules of CTAP 2.
@Suite struct CBORTests {
    private func isRead(_ hex: String) throws -> Bool {
        var reader = CBORReader(try #require(Hex.decode(hex)))
        return (try? reader.value()) != nil && reader.isAtEnd
    }

    @Test(arguments: [
        "00", "17", "1818", "18ff", "190100", "19ffff", "1a00010000", "1b0000000100000000",
        "1bffffffffffffffff", "20", "3bffffffffffffffff", "40", "4100", "5818" + zeros(24), "60",
        "61c3", "80", "8100", "a0", "a10000", "a1616161", "f4", "f5", "f6", "8181818181818180",
    ])
    func `items in their shortest form are read`(hex: String) throws {
        // A text must be UTF-8, and a map needs a value for each key.
        let isWrong = ["61c3", "a1616161"].contains(hex)
        #expect(try isRead(hex) == !isWrong)
    }

    @Test(arguments: [
        "", "1817", "1900ff", "1a0000ffff", "1b00000000ffffffff", "18", "19", "1a000100", "1c",
        "1f",
        "5801" + "00", "5f4100ff", "7f6161ff", "9f00ff", "bf0000ff", "c000", "d81800", "e0", "f0",
        "f7", "f800", "f820", "f90000", "fa00000000", "fb0000000000000000", "ff", "41",
        "8100" + "00",
        "82", "a1", "a100", "818181818181818180", "9bffffffffffffffff", "5bffffffffffffffff",
        "bbffffffffffffffff", "9b7fffffffffffffff",
    ])
    func `other encodings are refused`(hex: String) throws {
        #expect(try !isRead(hex))
    }

    @Test func `numbers of both signs and keys of maps are found`() throws {
        var reader = CBORReader(try #require(Hex.decode("a4012003390100206161616102")))
        let map = try reader.value()
        #expect(map[1]?.integer == -1)
        #expect(map[3]?.integer == -257)
        #expect(map[-1]?.text == "a")
        #expect(map["a"]?.integer == 2)
        #expect(map["b"] == nil && map[2] == nil)
        #expect(CBORValue.unsigned(.max).integer == nil)
        #expect(CBORValue.negative(.max).integer == nil)
        #expect(CBORValue.negative(UInt64(Int.max)).integer == .min)
    }
}

private func zeros(_ count: Int) -> String {
    String(repeating: "00", count: count)
}
