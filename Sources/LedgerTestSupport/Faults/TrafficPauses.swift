/// The times between two acknowledged commands of each server.
struct TrafficPauses {
    private var begun = ContinuousClock.now
    /// The receipt of the last acknowledgement, by the server's address.
    private var last: [String: ContinuousClock.Instant] = [:]
    private var longest = Duration.zero

    /// Forgets the pauses before now.
    mutating func begin() {
        self = TrafficPauses()
    }

    /// A command of a server was acknowledged.
    mutating func acknowledge(_ server: String) {
        let now = ContinuousClock.now
        longest = max(longest, now - (last[server] ?? begun))
        last[server] = now
    }

    /// Returns the time since a server's last acknowledgement.
    func silence(of server: String) -> Duration {
        ContinuousClock.now - (last[server] ?? begun)
    }

    /// Returns the longest pause of these servers, including one that lasts.
    func longest(of servers: [String]) -> Duration {
        servers.map { silence(of: $0) }.reduce(longest, max)
    }
}
