import Testing

@testable import JSON

/// The strict parser: the texts that it accepts, and those that only others accept.
@Suite struct JSONValueTests {
    private func parsed(_ text: String) -> JSONValue? {
        JSONValue(parsing: Array(text.utf8))
    }

    @Test func `all kinds of values are read`() {
        let text = " {\"a\" : [1, -2.5e1, true,\tfalse, null, \"x\"], \"b\":{} ,\r\n\"c\":[]} "
        #expect(
            parsed(text)
                == .object([
                    "a": .array([
                        .number(1), .number(-25), .bool(true), .bool(false), .null, .string("x"),
                    ]),
                    "b": .object([:]), "c": .array([]),
                ]))
    }

    @Test func `a text ends at its quotation mark, at any position`() {
        for count in 0...100 {
            let plain = String(repeating: "x", count: count)
            for rest in [0, 1, 50] {
                let tail = String(repeating: "y", count: rest)
                #expect(parsed("\"\(plain)é\u{7F}\(tail)\"") == .string("\(plain)é\u{7F}\(tail)"))
                #expect(
                    parsed("[\"\(plain)\",\"\(tail)\"]")
                        == .array([.string(plain), .string(tail)]))
                #expect(parsed("\"\(plain)\\n\(tail)\"") == .string("\(plain)\n\(tail)"))
                #expect(parsed("\"\(plain)\u{1F}\(tail)\"") == nil)
                #expect(parsed("\"\(plain)\0\(tail)\"") == nil)
            }
            #expect(parsed("\"\(plain)") == nil)
        }
    }

    @Test func `escapes are read, surrogate pairs included`() {
        #expect(
            parsed(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000""#)
                == .string("\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{1F600}\0"))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "[,1]", #"{"a":1,}"#, #"{"a"}"#, #"{"a":}"#, "{a:1}", "[1 2]",
        #"{"a":1 "b":2}"#, "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity",
        "1e999x", "-e9", "tru", "nul", "TRUE", "'a'", #""a"#, #""\x""#, #""\u12g4""#, "\"\n\"",
        "\"\u{1F}\"", "1 2", "{}{}", "[1]x", "\u{FEFF}1", "/**/1",
    ])
    func `malformed JSON is refused`(text: String) {
        #expect(parsed(text) == nil)
    }

    @Test(arguments: [
        #"{"sub":"a","sub":"b"}"#, #"{"sub":"a","sub":"a"}"#, #"{"sub":"a","s\u0075b":"b"}"#,
        #"[{"x":{"aud":1,"aud":2}}]"#,
    ])
    func `two members of one name are refused, however they are spelt`(text: String) {
        #expect(parsed(text) == nil)
    }

    @Test(arguments: [#""\uD800""#, #""\uDC00""#, #""\uD800x""#, #""\uD800\u0041""#])
    func `lone surrogates are refused`(text: String) {
        #expect(parsed(text) == nil)
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
        #expect(JSONValue(parsing: bytes) == nil)
    }

    @Test func `nesting is read up to its bound`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(parsed(nested(JSONValue.depthMax)) != nil)
        #expect(parsed(nested(JSONValue.depthMax + 1)) == nil)
        #expect(parsed(String(repeating: "[", count: 100_000)) == nil)
    }

    @Test func `members are distinguished by their bytes`() throws {
        let text = #"{"\u00e9":1,"e\u0301":2,"\u212a":3,"K":4}"#
        let members = try #require(parsed(text)?.members)
        #expect(members["\u{E9}"] == .number(1))
        #expect(members["e\u{301}"] == .number(2))
        #expect(members["\u{212A}"] == .number(3))
        #expect(members["K"] == .number(4))
        #expect(parsed(#"{"\u212a":3}"#)?.members?["K"] == nil)
        #expect(parsed(#"{"\u00e9":1,"é":2}"#) == nil)
        #expect(parsed(#"{"e\u0301":1,"\#("e\u{301}")":2}"#) == nil)
    }

    @Test func `values are distinguished by their bytes`() {
        #expect(parsed(#""\u00e9""#) != .string("e\u{301}"))
        #expect(parsed(#"["\u00e9"]"#) != .array([.string("e\u{301}")]))
        #expect(parsed(#"{"\u00e9":1}"#) != parsed(#"{"e\u0301":1}"#))
        #expect(parsed(#"{"\u00e9":[1]}"#) == parsed(#"{"\u00e9":[1]}"#))
    }

    @Test func `numbers of any length are read`() {
        let ones = String(repeating: "1", count: 200_000)
        #expect(parsed("0." + ones)?.number == 1.0 / 9)
        #expect(parsed("1." + String(repeating: "0", count: 63))?.number == 1)
        #expect(parsed("1e" + String(repeating: "0", count: 63) + "2")?.number == 100)
        #expect(parsed("0." + String(repeating: "0", count: 400) + "1e402")?.number == 10)
        #expect(parsed("1e-99999999999999999999")?.number == 0)
        #expect(parsed("0e99999999999999999999")?.number == 0)
        #expect(parsed("[\(ones)x]") == nil)
    }

    @Test(arguments: ["1e999", "-1e999", "1e99999999999999999999", "1e400"])
    func `a number that overflows is read but has no value`(text: String) {
        #expect(parsed(text) != nil)
        #expect(parsed(text)?.number == nil)
        #expect(parsed(String(repeating: "9", count: 200_000))?.number == nil)
    }

    @Test(arguments: [1, 16, 17, 2_000])
    func `members of an object of any size are found, and duplicates are refused`(count: Int) throws
    {
        let fields = (0..<count).map { "\"name \($0)\":\($0)" }
        let members = try #require(parsed("{\(fields.joined(separator: ","))}")?.members)
        #expect(members.count == count)
        #expect((0..<count).allSatisfy { members["name \($0)"] == .number(Double($0)) })
        #expect(members["name \(count)"] == nil)
        let reversed = parsed("{\(fields.reversed().joined(separator: ","))}")?.members
        #expect(reversed == members)
        for twice in [fields[0], fields[count - 1]] {
            #expect(parsed("{\((fields + [twice]).joined(separator: ","))}") == nil)
        }
    }

    @Test func `whole numbers are read exactly up to where a double has gaps`() {
        for text in [
            "0", "7", "-0", "-7", "999999999999999", "1000000000000000", "9007199254740993",
        ] {
            #expect(parsed(text)?.number == Double(text))
        }
        #expect(parsed("1790000000")?.number == 1_790_000_000)
        #expect(parsed("00") == nil)
        #expect(parsed("012345") == nil)
    }
}
