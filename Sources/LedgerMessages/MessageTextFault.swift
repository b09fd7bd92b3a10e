/// Why a tenant's own text is refused, in words that follow its path.
package enum MessageTextFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has a line break in a place without one, or another invisible character.
    case unprintable
    /// It has another placeholder than the allowed ones, or a brace without its partner.
    case placeholder(allowed: [MessagePlaceholder])
    /// A placeholder without which the message is of no use is missing.
    case missing(MessagePlaceholder)
    /// Too little is left of it where there is no account page.
    case onlyWithLink
    /// It has an address that mail programs make a link of.
    case link
    /// It has more bytes.
    case bytes(max: Int)
    /// It is sent in more parts.
    case segments(max: Int)

    package var description: String {
        switch self {
        case .unprintable: "must be printable text"
        case .placeholder(let allowed):
            "may have no braces but those of "
                + allowed.map(\.place).joined(separator: ", ")
        case .missing(let placeholder): "must have \(placeholder.place)"
        case .onlyWithLink:
            "must have its text and its other placeholders in paragraphs without "
                + MessagePlaceholder.link.place
        case .link: "must have no address of a page or a mailbox"
        case .bytes(let max): "must have at most \(max) bytes"
        case .segments(let max): "must fit into \(max) SMS"
        }
    }
}

extension MessagePart {
    package static let subjectBytesMax = 200
    package static let bodyBytesMax = 8_192
    /// The most SMS for one message, each of which is paid for.
    package static let segmentsMax = 3

    /// The longest values of an SMS.
    private static let longest: [MessagePlaceholder: String] = [
        .code: "000000", .minutes: "1440", .time: "2026-11-25 19:30 UTC",
        // A display name of 64 bytes has more characters if most are ASCII, which the docs say.
        .provider: String(repeating: "ア", count: MessagePlaceholder.provider.bytesMax / 3),
    ]

    /// The placeholders that its text must have.
    private var mandatory: Set<MessagePlaceholder> {
        kind == .subject ? [] : placeholders.subtracting([.product])
    }

    /// Checks a tenant's own text, whose paragraphs are separated by empty lines.
    ///
    /// - Parameters:
    ///   - text: the text with its placeholders.
    ///   - product: the tenant's product.
    /// - Throws: the first reason to refuse it.
    package func check(_ text: String, product: String) throws(MessageTextFault) {
        guard
            text.unicodeScalars.allSatisfy({
                MessagePlaceholder.isPrintable($0) || $0 == "\n" && kind == .body
            })
        else { throw .unprintable }
        let allowed = MessagePlaceholder.allCases.filter { placeholders.contains($0) }
        guard let names = Self.names(in: text),
            Set(names).isSubset(of: allowed.map(\.rawValue))
        else { throw .placeholder(allowed: allowed) }
        for placeholder in allowed
        where mandatory.contains(placeholder) && !names.contains(placeholder.rawValue) {
            throw .missing(placeholder)
        }
        guard !Self.hasAddress(text) else { throw .link }
        switch kind {
        case .subject: try Self.check(text, Self.subjectBytesMax)
        case .body:
            let always = kept(text, with: [:])
            guard template.required.allSatisfy({ always.contains($0.place) }),
                !always.allSatisfy(\.isWhitespace)
            else { throw .onlyWithLink }
            try Self.check(text, Self.bodyBytesMax)
        case .sms:
            let values = Self.longest.merging([.product: product]) { $1 }
            guard SMSSegments.count(of: filled(text, with: values)) <= Self.segmentsMax else {
                throw .segments(max: Self.segmentsMax)
            }
        }
    }

    private static func check(_ text: String, _ max: Int) throws(MessageTextFault) {
        guard text.utf8.count <= max else { throw .bytes(max: max) }
    }

    /// Returns the names between braces; nil if a brace has no partner.
    private static func names(in text: String) -> [String]? {
        var names: [String] = []
        for (index, piece) in text.split(separator: "{", omittingEmptySubsequences: false)
            .enumerated()
        {
            let parts = piece.split(separator: "}", omittingEmptySubsequences: false)
            guard parts.count == (index == 0 ? 1 : 2) else { return nil }
            if index > 0 { names.append(String(parts[0])) }
        }
        return names
    }

    /// Finds a scheme, or the dot within the name of a machine, also beside a placeholder.
    private static func hasAddress(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return text.contains("://")
            || scalars.indices.dropFirst().contains { index in
                let next = scalars[(index + 1)...].prefix(2)
                // The other dots are those that names of domains may have as well (UTS 46).
                return ".\u{3002}\u{FF0E}\u{FF61}".unicodeScalars.contains(scalars[index])
                    && !scalars[index - 1].properties.isWhitespace
                    && (next.first == "{"
                        || next.count == 2 && next.allSatisfy(\.properties.isAlphabetic))
            }
    }
}
