package import Ledger

/// A template with the values of its placeholders.
package struct MessageContent: Hashable, Sendable {
    package let template: MessageTemplate
    package let values: [MessagePlaceholder: String]

    /// Fills a template.
    ///
    /// - Throws: the first value that is missing, has another form, or has no place in the template.
    package init(
        _ template: MessageTemplate, _ values: [MessagePlaceholder: String]
    ) throws(MessageFault) {
        for placeholder in MessagePlaceholder.allCases {
            if let value = values[placeholder] {
                guard template.required.union(template.optional).contains(placeholder),
                    placeholder.accepts(value)
                else { throw .unacceptable(placeholder) }
            } else if template.required.contains(placeholder) {
                throw .missing(placeholder)
            }
        }
        self.template = template
        self.values = values
    }

    /// Fills a template with a code.
    ///
    /// - Throws: as ``init(_:_:)``.
    package static func code(
        _ template: MessageTemplate, _ code: String, minutes: Int
    ) throws(MessageFault) -> MessageContent {
        try MessageContent(template, [.code: code, .minutes: String(minutes)])
    }

    /// Fills the notice of something that happened.
    ///
    /// - Parameters:
    ///   - template: The notice.
    ///   - time: When it happened.
    ///   - provider: The configured display name of the provider, for a link or an unlink.
    ///   - link: The page where the person can look at it or stop it.
    /// - Returns: The content.
    /// - Throws: as ``init(_:_:)``.
    package static func notice(
        _ template: MessageTemplate, at time: Timestamp, provider: String? = nil,
        link: String? = nil
    ) throws(MessageFault) -> MessageContent {
        // To the minute, such as 2026-11-25 19:30 UTC.
        let text = time.description
        var values: [MessagePlaceholder: String] = [
            .time: "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
        ]
        values[.provider] = provider
        values[.link] = link
        return try MessageContent(template, values)
    }

    /// Returns the notice to the holder of an address with which a sign-up began.
    ///
    /// - Throws: as ``init(_:_:)``.
    package static func addressKnown(
        link: String? = nil
    ) throws(MessageFault) -> MessageContent {
        try MessageContent(.addressKnown, link.map { [.link: $0] } ?? [:])
    }
}
