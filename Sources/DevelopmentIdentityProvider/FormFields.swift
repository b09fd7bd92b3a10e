internal import Foundation
internal import HTTP

/// The fields of a request for a token: those of its query, then those of a form in its body.
struct FormFields {
    private static let bodyBytesMax = 8_192
    private static let fieldsMax = 32

    private var values: [String: String] = [:]

    /// Collects the fields; nil when the body is not a form or a field is duplicate.
    init?(_ request: HTTPRequest) {
        var pairs = request.query.map { ($0.name, $0.value) }
        if request.method == "POST" {
            guard request.body.count <= Self.bodyBytesMax,
                let form = Self.pairs(ofForm: request.body)
            else { return nil }
            pairs += form
        }
        guard pairs.count <= Self.fieldsMax else { return nil }
        for (name, value) in pairs {
            guard values.updateValue(value, forKey: name) == nil else { return nil }
        }
    }

    /// The value of a field, which may be empty; nil when it is absent.
    subscript(_ name: String) -> String? { values[name] }

    /// Parses `application/x-www-form-urlencoded`, where a plus sign is a space.
    private static func pairs(ofForm body: [UInt8]) -> [(String, String)]? {
        var pairs: [(String, String)] = []
        for field in body.split(separator: UInt8(ascii: "&")) {
            let parts = field.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]), let value = decoded(parts.count > 1 ? parts[1] : [])
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        let spaced = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(validating: spaced, as: UTF8.self)?.removingPercentEncoding
    }
}
