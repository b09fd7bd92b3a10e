package import Ledger
import Postgres

/// Reads history back from the log: an account's, or a range of positions.
///
/// Works in one snapshot, hands events out one by one in order, and checks them on the way: damage
/// is in the summary and ends nothing.
package struct Replay: Sendable {
    private static let begin = Statement(
        "replay_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private let session: Postgres.Session
    private let disclosures: DisclosureReader?

    /// Describes where the ledger is.
    ///
    /// - Parameters:
    ///   - url: of a role that may read `events`, `accounts`, `account_audit`, and for disclosures
    ///     also `disclosures` and `account_keys`.
    ///   - keyring: nil when nothing is to be disclosed.
    package init(url: String, keyring: WrappingKeyring?) {
        disclosures = keyring.map { DisclosureReader(keyring: $0) }
        session = Postgres.Session(
            url: url, applicationName: "account-ledger replay", statementDeadline: .seconds(600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Hands out the events from one position to another, both included.
    ///
    /// `emit` is called on the connection's thread; what it throws ends the replay.
    /// - Throws: `PostgresError` when the database is away, or what `emit` throws.
    package func range(
        from first: LogPosition, through last: LogPosition, in tenant: TenantID,
        emit: @escaping @Sendable (ReplayedEvent) throws -> Void
    ) async throws -> ReplaySummary {
        try await session.run { connection in
            try connection.transaction(Self.begin) {
                var reading = ReplayReading(
                    tenant: tenant, disclosures: self.disclosures, emit: emit)
                try reading.scan(
                    after: max(0, first.value) - 1, through: last.value, on: connection)
                return reading.summary
            }
        }
    }

    /// Hands out every event that touches an account, in the order of its own sequence.
    ///
    /// The positions come from `account_audit`; where that has a gap, and after its last, from the
    /// log itself. Of an event that begins with another account nothing is disclosed. `emit` is
    /// called on the connection's thread; what it throws ends the replay.
    /// - Returns: nil when nothing names the account.
    /// - Throws: `PostgresError` when the database is away, or what `emit` throws.
    package func account(
        _ account: AccountID, in tenant: TenantID,
        emit: @escaping @Sendable (ReplayedEvent) throws -> Void
    ) async throws -> ReplaySummary? {
        try await session.run { connection in
            try connection.transaction(Self.begin) {
                var reading = ReplayReading(
                    tenant: tenant, disclosures: self.disclosures, emit: emit)
                let isKnown = try reading.history(of: account, on: connection)
                return isKnown ? reading.summary : nil
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
