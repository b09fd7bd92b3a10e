import CommandLine
import Testing

/// The parsing of command lines by a syntax.
@Suite struct ArgumentsTests {
    private static let syntax = Syntax(
        words: ["file", "copy"], summary: "Copies a file.",
        operands: [.init(placeholder: "SOURCE", meaning: "the file")],
        options: [
            .init(name: "to", placeholder: "TARGET", meaning: "the copy"),
            .init(
                name: "size", placeholder: "WIDTH", secondPlaceholder: "HEIGHT", meaning: "two"),
            .init(name: "quiet", meaning: "prints nothing"),
        ], variables: [], details: "")

    private func arguments(_ line: String) throws -> Arguments {
        try Arguments(
            line.split(separator: " ").map(String.init), syntax: Self.syntax, program: "prog")
    }

    @Test func `options, flags and operands come in any order`() throws {
        for line in ["--to b --quiet a", "a --quiet --to=b", "--quiet a --to b"] {
            let arguments = try arguments(line)
            #expect(arguments["to"] == "b" && arguments.has("quiet"), "\(line)")
            #expect(arguments.operands == ["a"], "\(line)")
        }
    }

    @Test func `an option with two values takes both`() throws {
        let arguments = try arguments("--size 3 4 a")
        #expect(try arguments.value(of: "size", as: "a number", Int.init) == 3)
        #expect(try arguments.secondValue(of: "size", as: "a number", Int.init) == 4)
    }

    @Test func `a value may begin with dashes unless it is an option`() throws {
        #expect(try arguments("a --to --b")["to"] == "--b")
        let both = try arguments("a --size --3 --4")
        #expect(try both.secondValue(of: "size", as: "text") { $0 } == "--4")
    }

    @Test func `after two dashes every word is an operand`() throws {
        #expect(try arguments("-- --quiet").operands == ["--quiet"])
    }

    @Test func `help needs no operands`() throws {
        #expect(try arguments("--help").asksForHelp)
        #expect(try arguments("a -h").asksForHelp)
    }

    @Test(arguments: [
        ("", "SOURCE"), ("a b", "'b'"), ("--to a", "SOURCE"), ("a --to", "--to"),
        ("a --to --quiet", "--to"), ("a --to b --to c", "--to"), ("a --quiet=b", "--quiet"),
        ("a --color", "--color"), ("a -x", "-x"), ("a --size 3", "--size"),
        ("a --to --to=b", "--to"), ("a --to --help", "--to"), ("a --size 3 --quiet", "--size"),
    ])
    func `a wrong line names the word and the help`(line: String, word: String) throws {
        let error = #expect(throws: UsageError.self) { try arguments(line) }
        let text = try #require(error).description
        #expect(text.contains(word) && text.hasSuffix("see prog file copy --help"), "\(text)")
    }

    @Test func `a value of the wrong form is quoted without control characters`() throws {
        let arguments = try Arguments(
            ["a", "--to", "x\u{1B}[2J"], syntax: Self.syntax, program: "prog")
        let error = #expect(throws: UsageError.self) {
            try arguments.value(of: "to", as: "a number", Int.init)
        }
        let text = try #require(error).description
        #expect(text.contains("a number") && !text.contains("\u{1B}"))
    }
}
