package import Ledger
package import LedgerMessages

/// The services that the routes of auditors, support and administrators use.
package struct AuditServices: Sendable {
    /// Looks up API keys.
    package let keys: any APIKeyDirectory
    /// Records accesses to the ledger.
    package let accesses: any AccessLog
    /// Reads the log.
    package let events: any EventReader
    /// Reads checkpoints and proofs.
    package let proofs: any ProofReader
    /// Replays accounts as of earlier moments.
    package let histories: any HistoryReader
    /// Streams the log.
    let streams: EventStreams
    /// Finds accounts by any term that identifies them.
    package let searches: any SearchReader
    /// Reads refused claims to identities.
    package let conflicts: any ConflictReader
    /// Reads what became of messages to people.
    package let messages: any MessageReader
    /// Reads figures and states.
    package let overviews: any OverviewReader
    /// Reads legal holds.
    package let holds: any HoldReader
    /// Reads which accounts held identities.
    package let owners: any OwnerReader
    /// Finds accounts by their ids in other systems.
    package let names: any NameReader
    /// Exports bundles.
    package let bundles: any BundleExporter
    /// Limits the number of concurrent requests.
    let limiter: AuditRequestLimiter

    /// Collects the services.
    package init(
        keys: any APIKeyDirectory, accesses: any AccessLog, events: any EventReader,
        proofs: any ProofReader, histories: any HistoryReader, searches: any SearchReader,
        conflicts: any ConflictReader, messages: any MessageReader, overviews: any OverviewReader,
        holds: any HoldReader, owners: any OwnerReader, names: any NameReader,
        bundles: any BundleExporter,
        streams: EventStreams,
        limiter: AuditRequestLimiter = AuditRequestLimiter()
    ) {
        self.keys = keys
        self.accesses = accesses
        self.events = events
        self.proofs = proofs
        self.histories = histories
        self.streams = streams
        self.searches = searches
        self.conflicts = conflicts
        self.messages = messages
        self.overviews = overviews
        self.holds = holds
        self.owners = owners
        self.names = names
        self.bundles = bundles
        self.limiter = limiter
    }
}
