package import LedgerEngine

/// The pace of a server's loops. On Citus a look over all tenants asks every shard, which ten times a second takes more than
/// a third of a processor; there the loops wait for this process' own commits, and look for those of others each second.
extension DatabaseEngine {
    private static let citusPoll = Duration.seconds(1)
    /// The time between two looks for what only other processes write, or a retry.
    private static let citusSearch = Duration.seconds(5)

    /// The configuration of the projector.
    package var projecting: ProjectorConfiguration {
        var configuration = ProjectorConfiguration()
        if self == .citus {
            configuration.poll = Self.citusPoll
            configuration.search = Self.citusSearch
            // A page is a transaction for each tenant, whatever the number of its events.
            configuration.pause = .milliseconds(500)
            configuration.conflictsPause = .seconds(2)
        }
        return configuration
    }

    /// The configuration of the sealer.
    package var sealing: SealerConfiguration {
        var configuration = SealerConfiguration()
        if self == .citus { configuration.poll = Self.citusPoll }
        return configuration
    }

    /// Slows the search of webhooks for events of other processes and for endpoints.
    package func slow(_ configuration: inout WebhookConfiguration) {
        guard self == .citus else { return }
        configuration.poll = Self.citusPoll
        configuration.search = Self.citusSearch
    }

    /// Slows the search for messages of other processes and for retries.
    package func slow(_ configuration: inout MessageDispatcherConfiguration) {
        if self == .citus { configuration.poll = Self.citusSearch }
    }

    /// The pause between two counts of events for overviews, which are a transaction for each tenant with new events.
    package var figuresPause: Duration { self == .citus ? .seconds(10) : .seconds(2) }
}
