import Cryptography
package import Ledger
package import LedgerEngine
package import LedgerMessages

/// The configuration of a sequencer.
package struct SequencerConfiguration: Sendable {
    /// The runtime role's URL.
    package var url: String
    /// The maximum number of waiting commands; more are refused as overload.
    package var queueLimit = 4096
    /// The maximum wait of a command before it starts; after that it is refused as overload.
    package var waitMax = AnswerTime.waitMax
    /// The maximum number of commands in one transaction.
    package var batchLimit = 256
    /// Whether commands that need the configured rules are refused while the tenant's log has others.
    package var refusesOtherRules = false
    /// Returns the language of the notices to a tenant's people; nil for a tenant without addresses.
    package var noticeLanguage: @Sendable (TenantID) -> MessageLanguage? = { _ in nil }
    /// Returns the number of a tenant's notices by SMS within an hour; unlimited for the commands of operators.
    package var noticeTextsMax: @Sendable (TenantID) -> Int = { _ in .max }
    /// The check that refuses a schema of another version.
    package var fence = SchemaFence()
    /// The nodes of the tenants on Citus; with them, the commands of each node have connections of their own.
    package var nodes: TenantNodes?

    fileprivate var laneOf: (@Sendable (TenantID) -> Int)? {
        guard let nodes else { return nil }
        return { nodes.commandLane(of: $0) }
    }

    /// Creates a configuration with the default limits.
    package init(url: String) {
        self.url = url
    }
}

extension Sequencer {
    /// Creates a sequencer on Postgres, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - configuration: The database and the limits.
    ///   - policy: Returns the configured rules of a tenant, by which it is decided while its log has
    ///     none; nil for a tenant without a configuration.
    ///   - keyring: Wraps the keys of new accounts.
    ///   - onCommit: Called with the appended events after each commit that has any; must not block.
    ///   - onFault: Called with one line, free of personal data, for each failed batch.
    package convenience init(
        configuration: SequencerConfiguration,
        policy: @escaping @Sendable (TenantID) -> TenantPolicy?, keyring: WrappingKeyring,
        onCommit: @escaping @Sendable ([TenantRecordings]) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        let decider = BatchDecider(
            policy: policy, refusesOtherRules: configuration.refusesOtherRules,
            random: { [supply = RandomSupply()] in supply.bytes($0) })
        self.init(
            queueLimit: configuration.queueLimit, batchLimit: configuration.batchLimit,
            waitMax: configuration.waitMax,
            laneOf: configuration.laneOf,
            store: PostgresBatchStore(
                url: configuration.url, keyring: keyring, fence: configuration.fence,
                nodes: configuration.nodes, noticeLanguage: configuration.noticeLanguage,
                noticeTextsMax: configuration.noticeTextsMax,
                signInWindowSeconds: decider.signInWindowSeconds),
            decider: decider, onCommit: onCommit, onFault: onFault)
    }
}
