import Testing

@testable import Cryptography

/// The strict reader: what it accepts, and what other readers let pass.
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

    @Test func `escapes are read, surrogate pairs included`() {
        #expect(
            parsed(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000""#)
                == .string("\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{1F600}\0"))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "[,1]", #"{"a":1,}"#, #"{"a"}"#, #"{"a":}"#, "{a:1}", "[1 2]",
        #"{"a":1 "b":2}"#, "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity",
        "1e999", "-1e999", "tru", "nul", "TRUE", "'a'", #""a"#, #""\x""#, #""\u12g4""#, "\"\n\"",
        "\"\u{1F}\"", "1 2", "{}{}", "[1]x", "\u{FEFF}1", "/**/1",
    ])
    func `what RFC 8259 does not allow is refused`(text: String) {
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

    @Test func `numbers longer than any sensible one are refused`() {
        #expect(parsed("0." + String(repeating: "1", count: 62)) != nil)
        #expect(parsed("0." + String(repeating: "1", count: 63)) == nil)
    }
}
