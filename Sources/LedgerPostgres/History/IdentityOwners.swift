package import Ledger
import Postgres

/// Who held an identity when, read from the whole log in one snapshot.
package struct IdentityOwners: Sendable {
    /// What a search came to.
    package struct Found: Sendable {
        package let identity: IdentityID
        /// Whose the identity is at ``asOf``; nil while nobody holds it.
        package let holding: Holding?
        /// The last event that was looked at; nil before the first.
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

    /// Describes where the ledger is: the URL of a role that may read `events` and `identities`.
    package init(url: String) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger owner", statementDeadline: .seconds(600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Finds the identity of a subject and hands out every stretch over which an account held it, in
    /// order, up to a moment.
    ///
    /// Every event that names the identity is held against the others. `emit` is called on the
    /// connection's thread, as soon as a stretch has ended; what it throws ends the search.
    /// - Returns: nil when the subject has no identity: it never had one, or it was erased.
    /// - Throws: `HistoryFault.notReached`, `LogDamage` when the log is not whole or contradicts itself,
    ///   `PostgresError`, or what `emit` throws.
    package func owners(
        of subject: ProviderIdentity, asOf moment: Moment?, in tenant: TenantID,
        emit: @escaping @Sendable (Holding) throws -> Void
    ) async throws -> Found? {
        try await session.run { connection in
            try connection.transaction(Self.begin) {
                let row = try connection.query(
                    Self.known,
                    [
                        .text(tenant.description), .text(subject.provider.description),
                        .text(subject.providerID),
                    ])
                guard row.rowCount == 1 else { return nil }
                let identity = IdentityID(bits: try row.uuid(0, 0))
                let snapshot = try HistorySnapshot.read(tenant, macs: nil, on: connection)
                let mark = try snapshot.mark(of: moment, on: connection)
                let size = (mark?.position.value ?? -1) + 1
                let holding = try Self.follow(
                    identity, in: snapshot, before: size, on: connection, emit: emit)
                if size == snapshot.log.size,
                    try row.optionalUUID(0, 1) != holding?.account.bits
                {
                    throw LogDamage(
                        position: LogPosition(max(0, size - 1)),
                        fault: "identities says another holder of identity \(identity)")
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

    /// Hands out every stretch, the one that lasts at the end too, and returns that.
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
