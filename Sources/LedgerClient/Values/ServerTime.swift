import Foundation

/// The times of the HTTP API: RFC 3339 in UTC, such as `2026-11-20T23:17:50.859712Z`.
enum ServerTime {
    /// Reads a time; nil for another text.
    static func date(_ text: String) -> Date? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2,
            let seconds = try? Date(String(parts[0]) + "Z", strategy: .iso8601)
        else { return nil }
        guard parts.count == 2 else { return seconds }
        guard (1...9).contains(parts[1].count), parts[1].allSatisfy({ ("0"..."9").contains($0) }),
            let fraction = Double("0.\(parts[1])")
        else { return nil }
        return seconds.addingTimeInterval(fraction)
    }

    /// Reads the `Date` field of an HTTP answer, such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil for another text.
    static func httpDate(_ text: String) -> Date? {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", words[1].count == 2, words[3].count == 4,
            let month = months.firstIndex(of: String(words[2]))
        else { return nil }
        let number = month + 1
        let padded = number < 10 ? "0\(number)" : "\(number)"
        return date("\(words[3])-\(padded)-\(words[1])T\(words[4])Z")
    }
}
