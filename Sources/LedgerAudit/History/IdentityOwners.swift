package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// The holders of an identity over time, read from the whole log in one snapshot.
package struct IdentityOwners: Sendable {
    /// The result of a search.
    package struct Found: Sendable {
        package let identity: IdentityID
        /// The period of the holder at ``asOf``; nil while no account holds the identity.
        package let holding: Holding?
        /// The last event that was read; nil before the first.
        package let asOf: LogMark?
        package let log: LogExtent
    }

    private static let begin = Statement(
        "owners_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let known = Statement(
        "owners_identity",
        """
        SELECT identity_id, account_id FROM identities
        WHERE tenant_id = $1 AND provider = $2 AND provider_id = $3
        """)

    private let session: Postgres.Session
    private let macs: MACKeys?

    /// Creates a search by the URL of a role that may read `events` and `identities`.
    ///
    /// `macs` authenticate the events.
    package init(url: String, macs: MACKeys? = nil) {
        self.macs = macs
        session = Postgres.Session(
            url: url, applicationName: "account-ledger owner", statementDeadline: .seconds(600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Finds the identity of a subject and emits every period over which an account held it, in order, up to
    /// a moment.
    ///
    /// All events that name the identity must be consistent. `emit` is called on the connection's thread, as
    /// soon as a period has ended; an error it throws ends the search.
    /// - Returns: nil when the subject has no identity: it never had one, or it was erased.
    /// - Throws: `HistoryFault.notReached`, `LogDamage` when the log is incomplete or contradicts itself,
    ///   `PostgresError`, or the error of `emit`.
    package func owners(
        of subject: Subject, asOf moment: Moment?, in tenant: TenantID,
        emit: @escaping @Sendable (Holding) throws -> Void
    ) async throws -> Found? {
        try await session.run { connection in
            try connection.readingServedTables(Self.begin) {
                let row = try connection.query(
                    Self.known,
                    [
                        .text(tenant.description), .text(subject.provider.description),
                        .text(subject.providerID),
                    ])
                guard row.rowCount == 1 else { return nil }
                let identity = IdentityID(bits: try row.uuid(0, row.column("identity_id")))
                let snapshot = try HistorySnapshot.read(tenant, macs: macs, on: connection)
                let mark = try snapshot.mark(of: moment, on: connection)
                let size = (mark?.position.value ?? -1) + 1
                let holding = try Self.follow(
                    identity, in: snapshot, before: size, on: connection, emit: emit)
                if size == snapshot.log.size,
                    try row.optionalUUID(0, row.column("account_id")) != holding?.account.bits
                {
                    throw LogDamage(
                        position: LogPosition(max(0, size - 1)),
                        fault: "identities names another holder of identity \(identity)")
                }
                return Found(
                    identity: identity, holding: holding, asOf: mark, log: snapshot.log)
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Emits every period, including the one that lasts at the end, and returns that one.
    private static func follow(
        _ identity: IdentityID, in snapshot: HistorySnapshot, before end: Int64,
        on connection: Connection, emit: (Holding) throws -> Void
    ) throws -> Holding? {
        var search = LogSearch(
            for: identity, orAny: HoldingFold.unnamed, in: snapshot.tenant, at: 0..<end)
        var fold = HoldingFold(of: identity)
        while let positions = try search.positions(on: connection) {
            for start in stride(from: 0, to: positions.count, by: LogReader.pageMax) {
                let page = positions[start...].prefix(LogReader.pageMax)
                for event in try snapshot.events(at: Array(page), on: connection) {
                    if let ended = try fold.take(event.recorded) { try emit(ended) }
                }
            }
        }
        if let holding = fold.current { try emit(holding) }
        return fold.current
    }
}

extension HoldingFold {
    fileprivate mutating func take(_ recorded: RecordedEvent) throws(LogDamage) -> Holding? {
        do throws(FoldFault) {
            return try apply(recorded)
        } catch {
            throw LogDamage(position: recorded.position, fault: error.description)
        }
    }
}
