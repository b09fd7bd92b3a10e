/// A message as its recipient reads it, in plain text.
package struct MessageText: Hashable, Sendable {
    /// The subject of an e-mail, without line breaks; nil for other channels.
    package let subject: String?
    /// Lines separated by `\n`.
    package let body: String

    /// Combines subject and body.
    package init(subject: String?, body: String) {
        self.subject = subject
        self.body = body
    }
}

/// The patterns of one template in one language.
struct MessagePattern {
    let subject: String
    let body: String
    let sms: String
}

extension MessageContent {
    /// Returns the text for a channel.
    ///
    /// - Parameters:
    ///   - channel: A channel that the template has a text for.
    ///   - language: The language.
    ///   - product: The configured name of what the account is for.
    /// - Returns: The text, without the paragraphs whose optional values are absent.
    package func text(
        for channel: MessageChannel, in language: MessageLanguage, product: String
    ) -> MessageText {
        let pattern =
            switch language {
            case .english: EnglishTexts.pattern(template)
            case .german: GermanTexts.pattern(template)
            }
        switch channel {
        case .email:
            return MessageText(
                subject: filled(pattern.subject, product), body: filled(pattern.body, product))
        case .sms: return MessageText(subject: nil, body: filled(pattern.sms, product))
        }
    }

    /// Fills a pattern in one pass, so that nothing in a value is read as a placeholder.
    private func filled(_ pattern: String, _ product: String) -> String {
        let absent = template.optional.filter { values[$0] == nil }.map { "{\($0.rawValue)}" }
        let kept = pattern.split(separator: "\n\n", omittingEmptySubsequences: false)
            .filter { paragraph in !absent.contains { paragraph.contains($0) } }
        var text = ""
        for piece in kept.joined(separator: "\n\n").split(
            separator: "{", omittingEmptySubsequences: false)
        {
            guard let end = piece.firstIndex(of: "}") else {
                text += piece
                continue
            }
            let name = String(piece[..<end])
            let value = MessagePlaceholder(rawValue: name).flatMap { values[$0] }
            text += name == "product" ? product : value ?? ""
            text += piece[piece.index(after: end)...]
        }
        return text
    }
}
