/// Fields as HTML forms send them, of type `application/x-www-form-urlencoded` (URL standard, section 5.1).
package enum FormEncoding {
    /// The maximum number of fields.
    package static let fieldsMax = 32

    /// Returns the fields of a body in order; nil for malformed or too many ones.
    package static func fields(of body: [UInt8]) -> [(name: String, value: String)]? {
        guard let text = String(validating: body, as: UTF8.self) else { return nil }
        var fields: [(name: String, value: String)] = []
        for field in text.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]),
                let value = decoded(parts.count > 1 ? parts[1] : ""),
                fields.count < fieldsMax
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    /// Decodes a name or a value, where a plus sign is a space.
    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.decode(Substring(text.replacing("+", with: " ")))
    }
}
