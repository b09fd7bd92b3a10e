package import LedgerEngine

/// The pace of a server's loops. On Citus a look over all tenants asks every shard, which ten times a second takes more than
/// a third of a processor; there the loops wait for this process' own commits, and look for those of others each second.
extension DatabaseEngine {
    private static let citusPoll = Duration.seconds(1)

    /// The configuration of the projector.
    package var projecting: ProjectorConfiguration {
        var configuration = ProjectorConfiguration()
        if self == .citus {
            configuration.poll = Self.citusPoll
            configuration.pause = .milliseconds(100)
        }
        return configuration
    }

    /// The configuration of the sealer.
    package var sealing: SealerConfiguration {
        var configuration = SealerConfiguration()
        if self == .citus { configuration.poll = Self.citusPoll }
        return configuration
    }

    /// Slows the search of webhooks for events of other processes.
    package func slow(_ configuration: inout WebhookConfiguration) {
        if self == .citus { configuration.poll = Self.citusPoll }
    }
}
