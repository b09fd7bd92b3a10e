/// The times between two acknowledged commands of each server.
package struct TrafficPauses: Sendable {
    private let begun: ContinuousClock.Instant
    /// The receipt of the last acknowledgement, by the server's address.
    private var last: [String: ContinuousClock.Instant] = [:]
    private var longest = Duration.zero
    private var longestOfServer: [String: Duration] = [:]

    /// Measures from a moment on.
    package init(from begun: ContinuousClock.Instant) {
        self.begun = begun
    }

    /// A command of a server was acknowledged.
    package mutating func acknowledge(_ server: String, at now: ContinuousClock.Instant) {
        let pause = silence(of: server, at: now)
        longest = max(longest, pause)
        longestOfServer[server] = max(longestOfServer[server] ?? .zero, pause)
        last[server] = now
    }

    /// Returns the time since a server's last acknowledgement.
    package func silence(of server: String, at now: ContinuousClock.Instant) -> Duration {
        now - (last[server] ?? begun)
    }

    /// Returns the longest pause of a server, or that which lasts.
    package func longest(of server: String, at now: ContinuousClock.Instant) -> Duration {
        max(longestOfServer[server] ?? .zero, silence(of: server, at: now))
    }

    /// Returns the longest pause of these servers, including one that lasts.
    package func longest(of servers: [String], at now: ContinuousClock.Instant) -> Duration {
        servers.map { silence(of: $0, at: now) }.reduce(longest, max)
    }
}
