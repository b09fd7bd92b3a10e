/// A moment in a log's history: a position, or a time.
package enum Moment: Hashable, Sendable {
    case position(LogPosition)
    case time(Timestamp)

    /// Reads a position in digits or an RFC 3339 time; nil for anything else.
    package init?(_ text: String) {
        if let position = LogPosition(digits: text) {
            self = .position(position)
        } else if let time = Timestamp(rfc3339: text) {
            self = .time(time)
        } else {
            return nil
        }
    }
}

extension LogPosition {
    /// Reads digits without a sign or a leading zero; nil for a position that no log can have.
    package init?(digits text: String) {
        let isPlain = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isPlain, text == "0" || text.utf8.first != UInt8(ascii: "0"),
            let value = Int64(text), value < .max
        else { return nil }
        self.init(value)
    }
}

extension Timestamp {
    /// Reads an RFC 3339 time, such as `2026-11-21T08:30:00Z` or `2026-11-21T09:30:00.25+01:00`.
    ///
    /// Nil for anything else, for dates that do not exist and for leap seconds; digits below a
    /// microsecond are cut off.
    package init?(rfc3339 text: String) {
        var scanner = TimeScanner(text)
        guard let year = scanner.number(digits: 4), scanner.take("-"),
            let month = scanner.number(digits: 2), scanner.take("-"),
            let day = scanner.number(digits: 2), scanner.take("T") || scanner.take("t"),
            let hour = scanner.number(digits: 2), hour < 24, scanner.take(":"),
            let minute = scanner.number(digits: 2), minute < 60, scanner.take(":"),
            let second = scanner.number(digits: 2), second < 60,
            let microseconds = scanner.fraction(), let offset = scanner.offsetSeconds(),
            scanner.isAtEnd, let days = daysSince1970(year: year, month: month, day: day)
        else { return nil }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
        self.init(microseconds: seconds * 1_000_000 + microseconds)
    }
}

private struct TimeScanner {
    /// The maximum number of digits of a fraction; no clock writes more.
    private static let fractionDigitsMax = 9

    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(digits count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Reads an optional fraction of a second, in microseconds; 0 without one.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            count += 1
            if count <= 6 { value = value * 10 + digit }
            guard count <= Self.fractionDigitsMax else { return nil }
        }
        guard count > 0 else { return nil }
        for _ in min(count, 6)..<6 { value *= 10 }
        return value
    }

    mutating func offsetSeconds() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") {
            sign = 1
        } else if take("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = number(digits: 2), hours < 24, take(":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        else { return nil }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
