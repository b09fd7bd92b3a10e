package import Ledger

/// What the routes of auditors, support and administrators work with.
package struct AuditServices: Sendable {
    /// Knows the API keys.
    package let keys: any APIKeyDirectory
    /// Remembers who looked at what.
    package let accesses: any AccessLog
    /// Reads the log.
    package let events: any EventReader
    /// Reads checkpoints and proofs.
    package let proofs: any ProofReader
    /// Replays the past of accounts.
    package let histories: any HistoryReader
    /// Streams the log.
    let streams: EventStreams
    /// Bounds how many of their requests are worked on at once.
    let turns: AuditTurns

    /// Collects the services.
    package init(
        keys: any APIKeyDirectory, accesses: any AccessLog, events: any EventReader,
        proofs: any ProofReader, histories: any HistoryReader,
        streams: EventStreams, turns: AuditTurns = AuditTurns()
    ) {
        self.keys = keys
        self.accesses = accesses
        self.events = events
        self.proofs = proofs
        self.histories = histories
        self.streams = streams
        self.turns = turns
    }
}
