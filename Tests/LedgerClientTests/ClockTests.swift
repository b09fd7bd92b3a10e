import Foundation
import LedgerClient
import Testing

/// The expiry of access tokens by the ledger's clock, whatever the device's shows.
@MainActor struct ClockTests {
    /// A ledger whose clock is right, and which counts refreshes.
    private final class Ledger: Sendable {
        let transport = TestTransport()

        /// The ledger's time is so many seconds ahead of the device's clock at first.
        init(_ time: ManualTime, ahead: TimeInterval) {
            let start = time.wall
            transport.follow { [time, start] request, number in
                // Goes on by the clock that cannot be set.
                let now = start.addingTimeInterval(ahead + time.monotonic / .seconds(1))
                let headers = [
                    "Date": Self.httpDate(now),
                    "X-Request-Id": request.headers["X-Request-Id"] ?? "",
                ]
                switch request.url.lastPathComponent {
                case "account": return .answer(.account())
                default: return .answer(.session(number, headers: headers))
                }
            }
        }

        var refreshes: Int { transport.requests(of: "/refresh").count }

        private static func httpDate(_ date: Date) -> String {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return formatter.string(from: date)
        }
    }

    @Test(arguments: [-3600, 0, 3600, 788_400_000])
    func `a device whose clock is wrong refreshes just in time`(_ ahead: TimeInterval) async throws
    {
        let time = ManualTime()
        let ledger = Ledger(time, ahead: ahead)
        let store = InMemoryTokenStore()
        let first = try app(ledger.transport, store: store, time: time)
        try await first.signIn(at: "apple", with: .idToken("t"))
        time.advance(.seconds(580))
        #expect(try await first.accessToken() == "access-1")

        // Another process, which has seen no answer of the ledger.
        let second = try app(ledger.transport, store: store, time: time)
        #expect(try await second.accessToken() == "access-1")
        #expect(ledger.refreshes == 0)

        time.advance(.seconds(10))
        #expect(try await second.accessToken() == "access-2")
        #expect(try await first.accessToken() == "access-2")
        #expect(ledger.refreshes == 1)
    }

    @Test(arguments: [-3600, 3600])
    func `a clock that is set meanwhile does not matter to a running app`(
        _ change: TimeInterval
    ) async throws {
        let time = ManualTime()
        let ledger = Ledger(time, ahead: 0)
        let session = try app(ledger.transport, time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        time.setWall(by: change)
        time.advance(.seconds(580))
        #expect(try await session.accessToken() == "access-1")
        time.advance(.seconds(10))
        #expect(try await session.accessToken() == "access-2")
        #expect(ledger.refreshes == 1)
    }

    @Test(arguments: [-3600, 3600])
    func `a running app needs no time of the ledger, such as behind a proxy that removes it`(
        _ change: TimeInterval
    ) async throws {
        let time = ManualTime()
        let transport = TestTransport { _, number in .answer(.session(number)) }
        let session = try app(transport, time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        time.setWall(by: change)
        time.advance(.seconds(580))
        #expect(try await session.accessToken() == "access-1")
        time.advance(.seconds(10))
        #expect(try await session.accessToken() == "access-2")
    }

    @Test func `a clock that was set back before the start costs one refused request`()
        async throws
    {
        let time = ManualTime()
        let ledger = Ledger(time, ahead: 0)
        let store = InMemoryTokenStore()
        try await app(ledger.transport, store: store, time: time)
            .signIn(at: "apple", with: .idToken("t"))
        time.advance(.seconds(700))
        time.setWall(by: -3600)
        let transport = TestTransport { request, _ in
            switch request.url.lastPathComponent {
            case "refresh": .answer(.session(2))
            default:
                request.headers["Authorization"] == "Bearer access-2"
                    ? .answer(.account()) : .answer(.refusal(401, "INVALID_ACCESS_TOKEN"))
            }
        }
        let later = try app(transport, store: store, time: time)
        try await later.start()
        try await later.reload()
        #expect(
            transport.requests.map(\.url.lastPathComponent) == ["account", "refresh", "account"])
    }

    @Test func `a short-lived token is used for most of its life`() async throws {
        let time = ManualTime()
        let transport = TestTransport { request, _ in
            .answer(.session(request.url.lastPathComponent == "refresh" ? 2 : 1, lifetime: 12))
        }
        let session = try app(transport, time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        time.advance(.seconds(8))
        #expect(try await session.accessToken() == "access-1")
        time.advance(.seconds(1))
        #expect(try await session.accessToken() == "access-2")
    }
}
