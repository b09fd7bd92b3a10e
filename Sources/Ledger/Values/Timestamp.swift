/// A time in whole microseconds since 1970-01-01 UTC.
package struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let microseconds: Int64

    /// Creates a time from microseconds since 1970-01-01 UTC.
    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates a time from seconds since 1970-01-01 UTC.
    package init(seconds: Int64) {
        microseconds = seconds &* 1_000_000
    }

    /// Whole seconds since 1970-01-01 UTC, rounded down.
    package var seconds: Int64 {
        microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
    }

    /// Returns the time some seconds later; earlier when negative.
    package func adding(seconds: Int64) -> Timestamp {
        Timestamp(microseconds: microseconds &+ seconds &* 1_000_000)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    /// `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the only form that entries use.
    package var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(27)
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the text form to bytes that are being written.
    package func appendText(to bytes: inout [UInt8]) {
        let secondOfEpoch = seconds
        var days = secondOfEpoch / 86_400
        var secondOfDay = secondOfEpoch % 86_400
        if secondOfDay < 0 {
            secondOfDay += 86_400
            days -= 1
        }
        let date = CivilDate(daysSince1970: days)
        let fraction = microseconds - secondOfEpoch * 1_000_000
        bytes.append(addingCapacity: 27) { text in
            appendTwoDigits(date.year / 100, to: &text)
            appendTwoDigits(date.year % 100, to: &text)
            text.append(UInt8(ascii: "-"))
            appendTwoDigits(date.month, to: &text)
            text.append(UInt8(ascii: "-"))
            appendTwoDigits(date.day, to: &text)
            text.append(UInt8(ascii: "T"))
            appendTwoDigits(secondOfDay / 3600, to: &text)
            text.append(UInt8(ascii: ":"))
            appendTwoDigits(secondOfDay / 60 % 60, to: &text)
            text.append(UInt8(ascii: ":"))
            appendTwoDigits(secondOfDay % 60, to: &text)
            text.append(UInt8(ascii: "."))
            appendTwoDigits(fraction / 10_000, to: &text)
            appendTwoDigits(fraction / 100 % 100, to: &text)
            appendTwoDigits(fraction % 100, to: &text)
            text.append(UInt8(ascii: "Z"))
        }
    }

    /// Reads `YYYY-MM-DDTHH:MM:SS.ffffffZ` and nothing else; nil when the date does not exist.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 27 else { return nil }
        self.init(bytes, at: 0)
    }
}

/// Returns the days from 1970-01-01 to a date; nil when the date does not exist.
func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64? {
    guard year >= 1, (1...12).contains(month), day >= 1 else { return nil }
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let longest: Int64 =
        switch month {
        case 2: isLeapYear ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    guard day <= longest else { return nil }
    return CivilDate(year: year, month: month, day: day).daysSince1970
}

/// A day of the proleptic Gregorian calendar, counted in eras of 400 years that begin on 1 March.
private struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = (yearFromMarch >= 0 ? yearFromMarch : yearFromMarch - 399) / 400
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// Divides by constants only, which compiles to a multiplication; a variable divisor costs ten
/// times that.
@inline(__always)
private func appendTwoDigits(_ value: Int64, to text: inout OutputSpan<UInt8>) {
    text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10 % 10))
    text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
}
