import Ledger
import Testing

struct MomentTests {
    @Test(arguments: [
        ("2026-11-21T08:30:00Z", "2026-11-21T08:30:00.000000Z"),
        ("2026-11-21t08:30:00z", "2026-11-21T08:30:00.000000Z"),
        ("2026-11-21T09:30:00.25+01:00", "2026-11-21T08:30:00.250000Z"),
        ("2026-11-20T23:00:00.1234567-09:30", "2026-11-21T08:30:00.123456Z"),
        ("2024-02-29T23:59:59.999999999Z", "2024-02-29T23:59:59.999999Z"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000Z"),
    ])
    func `a time is read as RFC 3339 writes it`(text: String, canonical: String) throws {
        let time = try #require(Timestamp(rfc3339: text))
        #expect(time.description == canonical)
        #expect(Moment(text) == .time(time))
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T08:30Z", "2026-11-21 08:30:00Z", "2026-11-21T08:30:00",
        "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z",
        "2026-11-21T08:30:60Z", "2026-11-21T08:30:00.Z", "2026-11-21T08:30:00.1234567890Z",
        "2026-11-21T08:30:00+1:00", "2026-11-21T08:30:00Z ", "0000-01-01T00:00:00Z",
        "2026-11-21T08:30:00+24:00", "٢026-11-21T08:30:00Z", "-1", "+1", "01", "1.0", "0x1", " 1",
        "9223372036854775807", "99999999999999999999", "١",
    ])
    func `text that is neither a position nor a time is refused`(text: String) {
        #expect(Moment(text) == nil)
    }

    @Test(arguments: [("0", 0), ("7", 7), ("9223372036854775806", Int64.max - 1)])
    func `digits are a position`(text: String, value: Int64) {
        #expect(Moment(text) == .position(LogPosition(value)))
    }
}
