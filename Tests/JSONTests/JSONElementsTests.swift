import JSON
import Testing

/// Elements of an array that are cut out of a long text.
@Suite struct JSONElementsTests {
    /// Returns the elements with their lines, and how the text ends.
    private static func elements(
        _ text: String, _ layout: JSONElements.Layout = .wholeText, partBytes: Int,
        bytesMax: Int = 100
    ) -> [String] {
        var rest = Array(text.utf8)[...]
        var elements = JSONElements(layout, bytesMax: bytesMax)
        var seen: [String] = []
        while true {
            switch elements.next() {
            case .element(let element):
                let text = element.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "too long"
                seen.append("\(element.line) \(text)")
            case .needsBytes:
                guard !rest.isEmpty else { return seen + [elements.isComplete ? "end" : "cut"] }
                elements.add(Array(rest.prefix(partBytes)))
                rest = rest.dropFirst(partBytes)
            case .broken(let line): return seen + ["broken \(line)"]
            }
        }
    }

    @Test(arguments: [1, 2, 3, 1000])
    func `each element is returned as it is, wherever the parts end`(part: Int) {
        let text = "[ {\"a\":\"]}\\\"\"} ,\n[1,[2]],\"x,\", 12 , true\n]\n"
        #expect(
            Self.elements(text, partBytes: part)
                == [
                    "1 {\"a\":\"]}\\\"\"}", "2 [1,[2]]", "2 \"x,\"", "2 12", "2 true", "end",
                ])
    }

    @Test(arguments: [1, 3, 1000])
    func `the arrays of a member of each object are found`(part: Int) {
        let text =
            "[{\"a\":[0],\"b\":[1,\n2]} , {}, {\"c\":{\"b\":[3]},\"b\":[]},{\"b\":4,\"b\":[5]}]"
        #expect(
            Self.elements(text, .memberOfEach("b"), partBytes: part)
                == ["1 1", "2 2", "2 5", "end"])
        #expect(Self.elements("[]", .memberOfEach("b"), partBytes: part) == ["end"])
        for (broken, line) in [
            ("{\"b\":[1]}", 1), ("[1]", 1), ("[{},\n]", 2), ("[{}{}]", 1), ("[{}]\n]", 2),
            ("[{\"b\":[],\"b\":[]}]", 1), ("[[]]", 1),
        ] {
            let seen = Self.elements(broken, .memberOfEach("b"), partBytes: part)
            #expect(seen == ["broken \(line)"], "\(broken)")
        }
        #expect(
            Self.elements("[{\"b\":[1]}", .memberOfEach("b"), partBytes: part) == ["1 1", "cut"])
    }

    @Test(arguments: [1, 5, 1000])
    func `the array of a member is found among others`(part: Int) {
        let text =
            "{\"a\":{\"users\":[1]},\"b\\\"\":[\"}\"],\n\"users\":[{\"id\":1},{}],\"z\":null}"
        #expect(
            Self.elements(text, .member("users"), partBytes: part)
                == ["2 {\"id\":1}", "2 {}", "end"])
    }

    @Test func `an element that is too long is a line alone`() {
        let long = String(repeating: "x", count: 200)
        #expect(
            Self.elements("[\"\(long)\",\n1]", partBytes: 7) == ["1 too long", "2 1", "end"])
    }

    @Test(arguments: [
        ("[1 2]", ["1 1", "broken 1"]), ("[1,]", ["1 1", "broken 1"]), ("[,1]", ["broken 1"]),
        ("{}", ["broken 1"]), ("[1]x", ["1 1", "broken 1"]), ("[1", ["cut"]), ("", ["cut"]),
        ("[{\"a\":1}", ["1 {\"a\":1}", "cut"]), ("[}", ["broken 1"]), ("x", ["broken 1"]),
    ])
    func `a text that is no array is broken or cut`(text: String, seen: [String]) {
        for part in [1, 100] { #expect(Self.elements(text, partBytes: part) == seen, "\(part)") }
    }

    @Test(arguments: [
        "{\"users\":[1],\"users\":[2]}", "{\"users\":[1],}", "{,}", "{\"users\" [1]}",
        "{users:[1]}",
    ])
    func `a text without an object is broken`(text: String) {
        for part in [1, 100] {
            let seen = Self.elements(text, .member("users"), partBytes: part)
            #expect(seen.last == "broken 1", "\(seen)")
        }
    }

    @Test func `an object without the member has no elements`() {
        #expect(Self.elements("{}", .member("users"), partBytes: 1) == ["end"])
        #expect(Self.elements("{\"users\":{\"a\":[1]}}", .member("users"), partBytes: 1) == ["end"])
    }
}
