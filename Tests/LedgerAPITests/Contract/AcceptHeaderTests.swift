import HTTP
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Content negotiation between JSON and text, RFC 9110 section 12.5.1.
@Suite struct AcceptHeaderTests {
    /// The field, and whether the answer is text instead of JSON.
    static let fields: [(String, Bool)] = [
        ("text/plain", true), ("application/json", false), ("text/*", true), ("*/*", false),
        ("application/*", false), ("", false), ("text/html", false), ("text/html, image/*", false),
        // The highest weight wins.
        ("application/json;q=0.1, text/plain", true), ("*/*;q=0.1, text/plain", true),
        ("text/plain, */*;q=0.1", true), ("text/plain;q=0.5, application/json;q=0.1", true),
        ("application/json, text/plain;q=0.9", false), ("text/plain;q=0.1, */*", false),
        ("text/*;q=0.3, application/*;q=0.301", false), ("text/plain;q=1.000, */*;q=0.999", true),
        // With equal weights, the one listed first; for one range that matches both, JSON.
        ("text/plain, application/json", true), ("application/json, text/plain", false),
        ("application/*,text/plain", false), ("text/plain;q=0.5, application/json;q=0.500", true),
        // 0 refuses a type, and the most specific range decides.
        ("text/plain;q=0, application/json", false), ("text/plain;q=0", false),
        ("application/json;q=0, */*", true), ("application/json;q=0", false),
        ("*/*, text/*;q=0", false), ("text/*, text/plain;q=0.0", false),
        ("application/*;q=0, application/json;q=0.1, text/plain;q=0.05", false),
        ("*/*;q=0", false),
        // Case, white space and other parameters make no difference.
        ("TEXT/Plain ; Q=0.9 , application/json;q=0.1", true),
        ("text/plain;charset=utf-8, application/json;q=0.9", true),
        ("text/plain;format=flowed;q=0.1, application/json", false),
        ("text/plain;x=\"a,b;q=0\";q=0.9, application/json;q=0.5", true),
        ("text/plain;x=\"\\\",\";q=0.1, application/json;q=0.5", false),
        // Malformed parts are ignored.
        ("text/plain;q=2, application/json;q=0.1", false), ("text/plain;q=", false),
        ("text/plain;q", false), ("text/plain;q=0.1234, */*;q=0.1", false),
        ("text/plain;q=-1", false), ("text/plain;q=1.001", false), ("text/plain;q=.5", false),
        ("text/plain;q=1e3", false), ("text/plain;q=0,5", false), ("text/plain;q=nan", false),
        ("text, text/plain;q=0.1", true), (",,;,/;q=1,text/plain", true), ("*/plain", false),
        ("application/json;q=x, text/plain;q=0.1", true), ("text/plain;x=\"", true),
    ]

    @Test(arguments: fields)
    func `the preferred format is answered`(field: String, isText: Bool) {
        #expect(AcceptHeader.prefersText(["Accept": field]) == isText, "\(field)")
    }

    @Test func `several fields are one list, and none is JSON`() {
        #expect(
            AcceptHeader.prefersText(["Accept": "application/json;q=0.1", "accept": "text/plain"]))
        #expect(!AcceptHeader.prefersText(["Accept": "application/json", "Accept": "text/plain"]))
        #expect(!AcceptHeader.prefersText([:]))
    }

    @Test func `no text crashes the parser`() {
        let words = [
            "text/plain", "application/json", "*/*", ";q=", ";", ",", "=", "\"", "\\", "q", "0",
            "1", ".", "9", " ", "\t", "/", "\u{301}", "\u{fffd}", "é",
        ]
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let field = (0..<count).compactMap { _ in words.randomElement(using: &generator) }
                .joined()
            let once = AcceptHeader.prefersText(["Accept": field])
            #expect(
                AcceptHeader.prefersText(["Accept": field, "Accept": "image/png"]) == once,
                "\(field)")
        }
    }
}
