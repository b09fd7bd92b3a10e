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

    /// Parses the value of a `Content-Type` field; nil when it is missing or not a media type.
    package init?(_ contentType: String?) {
        guard let contentType else { return nil }
        // The fast path for the most common value.
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

    /// Whether the type is that of HTML forms without files (URL standard, section 5).
    package var isForm: Bool { type == "application" && subtype == "x-www-form-urlencoded" }

    /// Whether the type is `application/json`, in any case and with any parameters.
    package var isJSON: Bool { self == .json }
}
