internal import HTTP

/// The `Accept` field, where an answer exists as JSON and as text.
enum AcceptHeader {
    /// Whether `text/plain` is named before anything that JSON would satisfy.
    static func prefersText(_ headers: HTTPHeaders) -> Bool {
        for value in headers.values("Accept") {
            for range in value.split(separator: ",") {
                guard let type = MediaType(String(range)) else { continue }
                if type.type == "text", type.subtype == "plain" { return true }
                if type.isJSON || type.type == "*" || type.type == "application" { return false }
            }
        }
        return false
    }
}
