/// A media type, RFC 9110 section 8.3.1, without its parameters.
package struct MediaType: Sendable, Equatable {
    /// The type of JSON, RFC 8259 section 11.
    package static let json = MediaType(type: "application", subtype: "json")

    /// The part before the slash, in lower case.
    package let type: String
    /// The part after the slash, in lower case.
    package let subtype: String

    private init(type: String, subtype: String) {
        self.type = type
        self.subtype = subtype
    }

    /// Reads the value of a `Content-Type` field; nil when it is missing or no media type.
    package init?(_ contentType: String?) {
        guard let contentType else { return nil }
        // What nearly every client sends needs no taking apart.
        if contentType.utf8.elementsEqual("application/json".utf8) {
            self = .json
            return
        }
        let essence = ASCII.trimmed(
            contentType.prefix { $0 != ";" })
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ ASCII.isToken($0.utf8.span) }) else {
            return nil
        }
        self.init(type: parts[0].lowercased(), subtype: parts[1].lowercased())
    }

    /// True for `application/json`; parameters and case don't matter.
    package var isJSON: Bool { self == .json }
}
