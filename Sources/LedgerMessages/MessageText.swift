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
    ///   - settings: The tenant's product, and the texts of its own that replace built-in ones.
    ///   - accountPage: The link to the tenant's account page, to whose host an SMS may bind its code.
    /// - Returns: The text, without the paragraphs whose optional values are absent.
    package func text(
        for channel: MessageChannel, in language: MessageLanguage, by settings: MessageSettings,
        accountPage: String? = nil
    ) -> MessageText {
        let values = values.merging([.product: settings.product]) { $1 }
        func filled(_ kind: MessagePart.Kind) -> String {
            let part = MessagePart(template, kind, in: language)
            return part.filled(settings.texts[part] ?? part.builtIn, with: values)
        }
        return switch channel {
        case .email: MessageText(subject: filled(.subject), body: filled(.body))
        case .sms:
            MessageText(
                subject: nil,
                body: settings.bindsCodes
                    ? bound(filled(.sms), to: accountPage) : filled(.sms))
        }
    }

    /// Returns an SMS with the last line by which browsers know its code and the page it is for.
    ///
    /// The form is that of origin-bound one-time codes (WICG). The line is no part of a text, so tenants' own texts
    /// need no address, and the host is that of the configuration. A text that would need too many SMS stays without.
    private func bound(_ text: String, to accountPage: String?) -> String {
        guard let host = accountPage.flatMap(MessageLink.host), let code = values[.code] else {
            return text
        }
        let longer = "\(text)\n@\(host) #\(code)"
        return SMSSegments.count(of: longer) <= MessagePart.segmentsMax ? longer : text
    }
}
