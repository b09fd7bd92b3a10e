/// A part of a template in one language, which a tenant may replace by a text of its own.
package struct MessagePart: Hashable, Sendable, CustomStringConvertible {
    /// The place of a text in a message.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The subject of an e-mail.
        case subject
        /// The text of an e-mail.
        case body
        case sms
    }

    package let template: MessageTemplate
    package let kind: Kind
    package let language: MessageLanguage

    /// Names a part.
    package init(_ template: MessageTemplate, _ kind: Kind, in language: MessageLanguage) {
        self.template = template
        self.kind = kind
        self.language = language
    }

    /// Its path in the configuration, such as `de.sign_in_code.subject`.
    package var description: String {
        "\(language.rawValue).\(template.rawValue).\(kind.rawValue)"
    }

    /// The placeholders that its text may have.
    ///
    /// A subject has no code, because mail servers write subjects to their logs. Only an e-mail has a link.
    package var placeholders: Set<MessagePlaceholder> {
        switch kind {
        case .subject: template.required.subtracting([.code]).union([.product])
        case .body: template.required.union(template.optional).union([.product])
        case .sms: template.required.union([.product])
        }
    }

    /// The text of every tenant without one of its own.
    var builtIn: String {
        let pattern =
            switch language {
            case .english: EnglishTexts.pattern(template)
            case .german: GermanTexts.pattern(template)
            }
        return switch kind {
        case .subject: pattern.subject
        case .body: pattern.body
        case .sms: pattern.sms
        }
    }

    /// Returns a text without the paragraphs of optional placeholders that have no value.
    func kept(_ text: String, with values: [MessagePlaceholder: String]) -> String {
        let absent = template.optional.filter { values[$0] == nil }.map(\.place)
        return text.split(separator: "\n\n", omittingEmptySubsequences: false)
            .filter { paragraph in !absent.contains { paragraph.contains($0) } }
            .joined(separator: "\n\n")
    }

    /// Fills a text in one pass, so that nothing in a value is read as a placeholder.
    func filled(_ text: String, with values: [MessagePlaceholder: String]) -> String {
        var result = ""
        for piece in kept(text, with: values).split(
            separator: "{", omittingEmptySubsequences: false)
        {
            guard let end = piece.firstIndex(of: "}") else {
                result += piece
                continue
            }
            let placeholder = MessagePlaceholder(rawValue: String(piece[..<end]))
            result += placeholder.flatMap { values[$0] } ?? ""
            result += piece[piece.index(after: end)...]
        }
        return result
    }
}
