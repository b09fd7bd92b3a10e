package import LedgerEngine
import Postgres

extension Projector {
    /// Creates a projector on Postgres, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - configuration: the limits.
    ///   - keyring: unwraps the keys of accounts.
    ///   - recent: the events that this process appended last.
    ///   - nodes: the nodes of the tenants on Citus.
    ///   - onAdvance: called after each commit that moved a checkpoint; must not block.
    ///   - onFault: called with one line, free of personal data, for each failure; must not block.
    package convenience init(
        url: String, configuration: ProjectorConfiguration = ProjectorConfiguration(),
        keyring: WrappingKeyring, recent: RecentEvents = RecentEvents(),
        nodes: TenantNodes? = nil,
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void = { _ in },
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(
            configuration: configuration, status: PostgresProjectionStatusStore(url: url),
            store: {
                PostgresProjectionStore(
                    url: url, keyring: keyring, recent: recent, nodes: nodes)
            },
            onAdvance: onAdvance, onFault: onFault)
    }
}
