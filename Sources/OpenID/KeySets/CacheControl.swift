internal import Foundation

/// Reads the `max-age` directive of `Cache-Control`, RFC 9111 section 5.2.2.1.
enum CacheControl {
    /// Returns the `max-age` of a field value in seconds; nil when it is missing or not a number.
    static func maxAgeSeconds(_ field: String?) -> Int64? {
        for directive in (field ?? "").split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1)
                .map { part in part.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2, parts[0].lowercased() == "max-age" {
                let digits = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
                return Int64(digits).flatMap { seconds in seconds >= 0 ? seconds : nil }
            }
        }
        return nil
    }
}
