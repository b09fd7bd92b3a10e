import Testing

@Suite struct CommentRuleTests {
    @Test func `comments use the field's terms`() throws {
        for file in try SourceTree(["Sources", "Tests"]).files where file.module != "TidyTests" {
            for (index, line) in file.lines.enumerated() {
                let broken = CommentRule.broken(by: line)
                #expect(broken.isEmpty, "\(file):\(index + 1): \(broken)")
            }
        }
    }

    @Test(arguments: [
        ("/// What a reader gets.", "What "), ("    /// Who asked.", "Who "),
        ("/// Takes a text.", "Takes "), ("/// Gives the leaf.", "Gives "),
        ("/// Says why.", "Says "), ("/// - Parameter caller: Somebody.", "somebody"),
        ("// Waits until nobody reads.", "nobody"), ("/// The holder, whoever it is.", "whoever"),
        ("    // Two rounds, at the most.", "at the most"),
    ])
    func `a vague opening or phrase is found`(line: Substring, expected: String) {
        #expect(CommentRule.broken(by: line) == [expected])
    }

    @Test(arguments: [
        "/// Whatever the planner's estimates.", "/// Returns what was read.",
        "// Takes effect at the next start.", #"let name = "nobody""#, "", "//",
    ])
    func `other lines pass`(line: Substring) {
        #expect(CommentRule.broken(by: line).isEmpty)
    }
}
