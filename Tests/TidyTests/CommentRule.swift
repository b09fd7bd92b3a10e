/// The words that comments avoid: vague openings of summaries, and pronouns in place of nouns.
enum CommentRule {
    private static let openings = ["What ", "Who ", "Takes ", "Gives ", "Says "]
    private static let phrases = ["somebody", "nobody", "whoever", "at the most"]

    /// Returns the openings and phrases that a line's comment must not have; none for code.
    static func broken(by line: Substring) -> [String] {
        let start = line.drop { $0 == " " }
        guard start.hasPrefix("//") else { return [] }
        let text = start.drop { $0 == "/" }.drop { $0 == " " }
        let isDocumentation = start.hasPrefix("///")
        let words = " " + text.lowercased().split { !$0.isLetter }.joined(separator: " ") + " "
        return openings.filter { isDocumentation && text.hasPrefix($0) }
            + phrases.filter { words.contains(" \($0) ") }
    }
}
