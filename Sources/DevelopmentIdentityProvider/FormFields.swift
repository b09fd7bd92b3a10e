internal import HTTP

/// The fields of a request for a token: those of its query, then those of a form in its body.
struct FormFields {
    private static let bodyBytesMax = 8_192
    private static let fieldsMax = 32

    private var values: [String: String] = [:]

    /// Describes fields.
    init(_ values: [String: String]) {
        self.values = values
    }

    /// Collects the fields; nil when the body is not a form or a field is duplicate.
    init?(_ request: HTTPRequest) {
        var pairs = request.query.map { ($0.name, $0.value) }
        if request.method == "POST" {
            guard request.body.count <= Self.bodyBytesMax,
                let form = FormEncoding.fields(of: request.body)
            else { return nil }
            pairs += form.map { ($0.name, $0.value) }
        }
        guard pairs.count <= Self.fieldsMax else { return nil }
        for (name, value) in pairs {
            guard values.updateValue(value, forKey: name) == nil else { return nil }
        }
    }

    /// The value of a field, which may be empty; nil when it is absent.
    subscript(_ name: String) -> String? { values[name] }
}
