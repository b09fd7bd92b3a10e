internal import BlockingCalls
import Ledger
package import LedgerEngine
import LedgerMessages
import Postgres

/// Executes batches on one connection, each in one transaction of two round trips; rules that remove
/// a provider need a third.
///
/// The first locks and loads, the second writes and commits. After the lock come separate
/// statements, so that under READ COMMITTED each sees every earlier commit.
package final class PostgresBatchStore: BatchStore {
    /// The least number of commands of a large batch that are decided while Postgres inserts the events of those before
    /// them.
    package static let partCommands = 64
    /// The parts of a larger batch, since each is a statement.
    private static let partsMax = 8

    private let session: Postgres.Session
    private let delivery = BlockingExecutor(label: "account-ledger answers")
    private let keyring: WrappingKeyring
    private let fence: SchemaFence
    private let rules = RulesCache()
    private let noticeLanguage: @Sendable (TenantID) -> MessageLanguage?
    private let noticeTextsMax: @Sendable (TenantID) -> Int
    private let signInWindowSeconds: @Sendable (TenantID) -> Int64
    /// Whether the connection reaches Citus, as found when it was opened.
    private let isSharded = SharedFlag()
    /// Of the connection, used on Citus.
    private let protected = ProtectedLogs()
    private let tenantCalls = TenantCalls()
    private let nodes: TenantNodes?

    /// Configures the store; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - keyring: Wraps the keys of new accounts.
    ///   - fence: The check of the schema's version.
    ///   - nodes: Learns the nodes of the tenants on Citus.
    ///   - noticeLanguage: Returns the language of a tenant's notices; nil for a tenant without addresses.
    ///   - noticeTextsMax: Returns the number of a tenant's notices by SMS within an hour.
    ///   - signInWindowSeconds: Returns the period over which a tenant's sign-ins are counted.
    init(
        url: String, keyring: WrappingKeyring, fence: SchemaFence = SchemaFence(),
        nodes: TenantNodes? = nil,
        noticeLanguage: @escaping @Sendable (TenantID) -> MessageLanguage? = { _ in nil },
        noticeTextsMax: @escaping @Sendable (TenantID) -> Int = { _ in .max },
        signInWindowSeconds: @escaping @Sendable (TenantID) -> Int64
    ) {
        session = Postgres.Session(
            url: url, applicationName: LockHolderName.sequencer.rawValue,
            connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { [isSharded, protected] in
            protected.forget()
            try $0.execute(Self.settings)
            isSharded.set(try DatabaseEngine(of: $0) == .citus)
        }
        self.keyring = keyring
        self.fence = fence
        self.nodes = nodes
        self.noticeLanguage = noticeLanguage
        self.noticeTextsMax = noticeTextsMax
        self.signInWindowSeconds = signInWindowSeconds
    }

    /// The connection's settings: a frozen process must not block a tenant, and statements look up
    /// few keys.
    ///
    /// A plan made while a table is young is kept when the table has grown, so the statements leave
    /// the planner no choice: no scans, no joins of whole tables, and a separate lookup of each key
    /// (`LATERAL ... OFFSET 0` is not flattened into a join that could be reversed).
    package static let settings =
        ConnectionSettings.primary + ConnectionSettings.limits(idle: 2, lock: 5, statement: 5)
        + ConnectionSettings.lookups
        + "SET enable_memoize = off;\n"

    package var taskExecutor: (any TaskExecutor)? { session.taskExecutor }
    package var deliveryExecutor: (any TaskExecutor)? { delivery }
    package var takesOneTenant: Bool { isSharded.value }

    /// Executes one batch in one transaction.
    ///
    /// - Throws: The reason for which nothing is known to be committed.
    package func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch, Range<Int>) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome {
        do {
            return try await session.run { connection in
                try self.transact(keys, on: connection, decide)
            }
        } catch let fault as BatchFault {
            throw fault
        } catch let error as PostgresError {
            throw BatchFault(error, onCitus: isSharded.value)
        } catch {
            throw .store("the connection could not be prepared", isOfOneCommand: false)
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// If this leaves a transaction open, the session rolls it back.
    ///
    /// - Throws: Also a fault of one command for several tenants on Citus, known only once the first connection is
    ///   open: the sequencer then splits the batch.
    private func transact(
        _ keys: BatchKeys, on connection: Connection,
        _ decide: @escaping (LoadedBatch, Range<Int>) throws(BatchFault) -> BatchOutcome
    ) throws -> BatchOutcome {
        let tenant = keys.tenants.count == 1 ? keys.tenants.first : nil
        if isSharded.value, tenant == nil {
            throw BatchFault.store("several tenants in a batch on Citus", isOfOneCommand: true)
        }
        // For its next commands, which then wait for no other node.
        if isSharded.value, let tenant { try nodes?.learn(tenant, on: connection) }
        // The same statements, on Citus with the tenant as a scalar.
        let form = { [isSharded, tenantCalls] (calls: [Call]) in
            guard isSharded.value, let tenant else { return calls }
            return tenantCalls.calls(calls, of: tenant)
        }
        var load = BatchLoad(
            keys: keys, signInWindowSeconds: signInWindowSeconds, keyring: keyring, fence: fence,
            rules: rules, protected: isSharded.value ? protected : nil)
        try load.read(try connection.pipeline(form(load.calls)))
        try RulesLoad.loadSoleProviders(for: keys.rules, into: load.tenants, on: connection)
        try RulesLoad.loadLostFactorDomains(for: keys.rules, into: load.tenants, on: connection)
        let batches = load.tenants.values.sorted { $0.tenant < $1.tenant }
        let loaded = LoadedBatch(now: load.now, tenants: load.tenants)
        let engine: DatabaseEngine = isSharded.value ? .citus : .postgres
        var outcome = BatchOutcome()
        var isChecked = false
        // Before the MACs of the first events: one of them may begin the log's protection.
        func checkLoadedRows() throws(BatchFault) {
            guard !isChecked else { return }
            isChecked = true
            for batch in batches { try batch.checkLoadedRows() }
        }
        func decision(_ part: Range<Int>) throws -> [Call] {
            do throws(BatchFault) {
                outcome.add(try decide(loaded, part))
            } catch {
                // A forged row may be the reason, and is then the fault to report.
                try checkLoadedRows()
                throw error
            }
            guard part.upperBound < keys.commandCount else {
                return AccountWrites.calls(for: batches)
            }
            try checkLoadedRows()
            return try EventWrites.insertions(for: batches, on: engine)
        }
        let decided = isSharded.value ? [0..<keys.commandCount] : Self.parts(keys.commandCount)
        var others = otherWrites(of: batches, at: load.now)
        if !isSharded.value { others.append { [Call(.commit)] } }
        // Postgres works on each part while the next one is decided, encoded, authenticated and encrypted. A
        // transaction without writes must end too, to release its lock.
        var parts: [() throws -> [Call]] = []
        for part in decided { parts.append { form(try decision(part)) } }
        parts.append {
            try checkLoadedRows()
            return form(try EventWrites.calls(for: batches, on: engine))
        }
        // A part costs a system call, so a small batch has few.
        let groups = decided.count > 1 ? others.map { [$0] } : [others]
        for group in groups {
            parts.append { form(try group.flatMap { try $0() }) }
        }
        _ = try connection.pipeline(parts: parts)
        if isSharded.value { try commitOnCitus(connection) }
        return outcome
    }

    /// Commits on Citus, in a round trip of its own: a worker may have committed what the coordinator could not
    /// confirm, so such a batch is never retried.
    private func commitOnCitus(_ connection: Connection) throws(BatchFault) {
        do {
            _ = try connection.pipeline([Call(.commit)])
        } catch {
            throw .store(error.description, isOfOneCommand: false)
        }
    }

    /// Returns the ranges of a batch's commands that are decided one after the other.
    private static func parts(_ count: Int) -> [Range<Int>] {
        guard count >= 2 * partCommands else { return [0..<count] }
        let size = max(partCommands, (count + partsMax - 1) / partsMax)
        return stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
    }

    /// Returns the writes besides those of accounts and events, in parts to be made in their order.
    private func otherWrites(
        of batches: [TenantBatch], at now: Timestamp
    ) -> [() throws -> [Call]] {
        [
            { try self.changes(in: batches, at: now) },
            { try self.secrets(of: batches) },
            { try self.names(in: batches) },
        ]
    }

    private func changes(
        in batches: [TenantBatch], at now: Timestamp
    ) throws(BatchFault) -> [Call] {
        try MergeWrites.calls(for: batches) + IdentityWrites.moves(in: batches)
            + SessionWrites.calls(for: batches) + SpentIDTokens.calls(for: batches)
            + ChallengeRows.calls(for: batches)
            + PasswordWrites.ends(in: batches, at: now)
            + FactorWrites.calls(for: batches, keyring: keyring)
            + NoticeWrites.calls(
                in: batches, at: now, language: noticeLanguage, textsMax: noticeTextsMax)
            + AddressWrites.releases(in: batches)
            + OperationalWrites.calls(for: batches, at: now)
            + ErasureRequestRows.calls(for: batches)
            + RulesWrites.calls(for: batches)
    }

    private func secrets(of batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var secrets = SecretWrites(keyring: keyring)
        for batch in batches {
            try secrets.add(batch)
        }
        return secrets.calls
    }

    /// Returns the erasures, which remove rows written by earlier commands, and the rows with names: only after an
    /// erasure is a subject's row free for the new identity that it was given.
    private func names(in batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        try ErasureWrites.calls(for: batches)
            + IdentityWrites.names(in: batches) + AddressWrites.names(in: batches)
            + NameWrites.calls(for: batches) + TraceWrites.calls(for: batches)
            + PasswordWrites.stores(in: batches, keyring: keyring)
    }
}

extension BatchFault {
    /// Distinguishes errors that one command may have caused from those that affect all commands.
    ///
    /// On Citus, the loss of a connection to a worker is an internal error.
    init(_ error: PostgresError, onCitus isSharded: Bool = false) {
        let isOfOneCommand =
            switch error {
            case .unexpectedResult: true
            case .connectionFailed, .connectionLost, .timedOut: false
            case .server(let error):
                switch error.state {
                case .lockNotAvailable, .idleInTransactionTimeout, .readOnlyTransaction: false
                // The schema was migrated to a version other than this program's.
                case .undefinedTable, .undefinedColumn, .undefinedFunction: false
                case .internalError: !isSharded
                default: !["08", "40", "53", "57", "58"].contains(error.state.conditionClass)
                }
            }
        self = .store(error.description, isOfOneCommand: isOfOneCommand)
    }
}
