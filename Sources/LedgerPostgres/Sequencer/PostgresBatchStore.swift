import Ledger
import Postgres

/// Carries batches out on one connection, each in one transaction of two round trips.
///
/// The first locks and loads, the second writes and commits. The statements after the lock are
/// statements of their own, so that under READ COMMITTED each sees every commit before it.
final class PostgresBatchStore: BatchStore {
    private let session: Postgres.Session
    private let delivery = BlockingExecutor(label: "account-ledger answers")
    private let keyring: WrappingKeyring
    private let fence: SchemaFence
    private let signInWindowSeconds: @Sendable (TenantID) -> Int64

    /// Describes the store; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - keyring: wraps the keys of new accounts.
    ///   - fence: knows the version of the schema that this program is for.
    ///   - signInWindowSeconds: how far back the sign-ins of a tenant are counted.
    init(
        url: String, keyring: WrappingKeyring, fence: SchemaFence = SchemaFence(),
        signInWindowSeconds: @escaping @Sendable (TenantID) -> Int64
    ) {
        session = Postgres.Session(
            url: url, applicationName: HolderName.sequencer.rawValue, connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(Self.settings) }
        self.keyring = keyring
        self.fence = fence
        self.signInWindowSeconds = signInWindowSeconds
    }

    /// A frozen process must not hold a tenant, and every statement is a lookup of few keys.
    ///
    /// A plan made while a table is young stays when it has grown, so the statements leave the planner
    /// no choice: no scans, no joins of whole tables, and each key looked up by itself
    /// (`LATERAL ... OFFSET 0` is not flattened into a join that could be turned around).
    static let settings =
        ConnectionSettings.primary + ConnectionSettings.limits(idle: 2, lock: 5, statement: 5)
        + ConnectionSettings.lookups
        + "SET enable_memoize = off;\n"

    var taskExecutor: (any TaskExecutor)? { session.taskExecutor }
    var deliveryExecutor: (any TaskExecutor)? { delivery }

    func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome {
        do {
            return try await session.run { connection in
                try self.transact(keys, on: connection, decide)
            }
        } catch let fault as BatchFault {
            throw fault
        } catch let error as PostgresError {
            throw BatchFault(error)
        } catch {
            throw .store("the connection could not be prepared", isOfOneCommand: false)
        }
    }

    func close() async {
        await session.close()
    }

    /// A transaction that this leaves open is rolled back by the session.
    private func transact(
        _ keys: BatchKeys, on connection: Connection,
        _ decide: (LoadedBatch) throws(BatchFault) -> BatchOutcome
    ) throws -> BatchOutcome {
        var load = BatchLoad(
            keys: keys, signInWindowSeconds: signInWindowSeconds, keyring: keyring, fence: fence)
        try load.read(try connection.pipeline(load.calls))
        let outcome = try decide(LoadedBatch(now: load.now, tenants: load.tenants))
        let batches = load.tenants.values.sorted { $0.tenant < $1.tenant }
        // The events are ready to be written; while they are, the rest is encoded and encrypted.
        // Nothing to write is still a transaction to end: its lock must go.
        _ = try connection.pipeline(try EventWrites.calls(for: batches)) {
            try self.writesBesideEvents(of: batches, at: load.now) + [Call(.commit)]
        }
        return outcome
    }

    private func writesBesideEvents(
        of batches: [TenantBatch], at now: Timestamp
    ) throws(BatchFault) -> [Call] {
        var secrets = SecretWrites(keyring: keyring)
        for batch in batches {
            try secrets.add(batch)
        }
        // Erasures take away what the commands before them wrote; only then is the place of a subject
        // free for the identity that it got anew.
        return try AccountWrites.calls(for: batches) + MergeWrites.calls(for: batches)
            + IdentityWrites.moves(in: batches)
            + SessionWrites.calls(for: batches) + SpentIDTokens.calls(for: batches)
            + OperationalWrites.calls(for: batches, at: now)
            + secrets.calls + ErasureWrites.calls(for: batches) + IdentityWrites.names(in: batches)
    }
}

extension BatchFault {
    /// Tells what one command may be to blame for from what hits everybody.
    init(_ error: PostgresError) {
        let isOfOneCommand =
            switch error {
            case .unexpectedResult: true
            case .connectionFailed, .connectionLost, .timedOut: false
            case .server(let error):
                switch error.state {
                case .lockNotAvailable, .idleInTransactionTimeout, .readOnlyTransaction: false
                // Another schema than this program's: somebody has migrated it.
                case .undefinedTable, .undefinedColumn, .undefinedFunction: false
                default: !["08", "40", "53", "57", "58"].contains(error.state.conditionClass)
                }
            }
        self = .store(error.description, isOfOneCommand: isOfOneCommand)
    }
}
