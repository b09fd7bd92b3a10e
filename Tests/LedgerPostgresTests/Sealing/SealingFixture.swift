import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// A test's own record directory, and sealers on a database.
struct SealingFixture: Sendable {
    let database: ScratchDatabase
    let path: String

    /// Runs a body with a fixture; its directory is removed afterwards.
    static func with<Value>(
        _ database: ScratchDatabase, _ body: (SealingFixture) async throws -> Value
    ) async throws -> Value {
        let path = NSTemporaryDirectory() + "sealer-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(SealingFixture(database: database, path: path))
    }

    /// Runs a body with a fixture on a database with a running sequencer.
    static func with(
        _ body: (SealingFixture, SequencerFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { ledger in
                try await with(database) { try await body($0, ledger) }
            }
        }
    }

    static let origin = "ledger.example/test/default"

    var record: SealerDirectory {
        guard let base = NoteKeyName("ledger.example/test") else { preconditionFailure("a name") }
        return SealerDirectory(path: path, base: base)
    }

    /// Creates a store with its own connection and lease holder.
    func store(url: String? = nil) -> PostgresSealerStore {
        PostgresSealerStore(
            url: url ?? database.runtimeURL, applicationName: "test sealer",
            macs: SequencerFixture.keyring.macs)
    }

    /// Runs one pass over all logs by a new sealer, which releases its leases at the end.
    @discardableResult
    func sealOnce(
        url: String? = nil, record: (any SealerRecord)? = nil, pageMax: Int = 2_000,
        signedMax: Int = 4_000
    ) async throws -> LogSealing.Round {
        let store = store(url: url)
        var limits = SealingLimits()
        limits.pageMax = pageMax
        limits.signedMax = signedMax
        var sealing = LogSealing(store: store, record: record ?? self.record, limits: limits)
        let round: LogSealing.Round
        do {
            round = try await sealing.round()
        } catch {
            await store.release()
            await store.close()
            throw error
        }
        await store.release()
        await store.close()
        return round
    }

    /// Runs the whole audit of `default`.
    func audit(url: String? = nil, pageMax: Int = 3) async throws -> SealingFinding? {
        let store = store(url: url)
        let logState = try record.logState(of: .default, mayBegin: false)
        guard let last = logState.last else { throw Unexpected(what: "nothing was signed") }
        var audit = LogAudit(
            of: .default, last: last, verifiers: logState.verifiers, store: store,
            pageMax: pageMax)
        while true {
            switch try await audit.step() {
            case .more: continue
            case .whole:
                await store.close()
                return nil
            case .finding(let finding):
                await store.close()
                return finding
            }
        }
    }

    /// Creates a reader of sealed logs.
    func reads(url: String? = nil) -> ProofReads {
        ProofReads(url: url ?? database.runtimeURL) { _ in }
    }

    /// Returns every published checkpoint of `default`.
    func checkpoints(url: String? = nil) async throws -> [SignedCheckpoint] {
        let reads = reads(url: url)
        let all = try await reads.checkpoints(of: .default, sizes: 0...(.max), limit: 1_000)
        await reads.close()
        return all
    }

    /// Returns the entries of `default` in order.
    func entries() async throws -> [[UInt8]] {
        let session = Postgres.Session(
            url: database.superuserURL, applicationName: "sealing fixture")
        let entries = try await session.run { connection in
            let rows = try connection.query(
                Statement(
                    "all_entries",
                    "SELECT entry FROM events WHERE tenant_id = 'default' ORDER BY position"))
            return try (0..<rows.rowCount).map { try rows.bytes($0, 0) }
        }
        await session.close()
        return entries
    }

    /// Executes SQL that only a superuser can.
    func tamper(_ sql: String) async throws {
        try await database.asSuperuser.execute(
            """
            BEGIN;
            ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
            ALTER TABLE events DISABLE TRIGGER USER;
            ALTER TABLE merkle_nodes DISABLE TRIGGER USER;
            ALTER TABLE checkpoints DISABLE TRIGGER USER;
            ALTER TABLE checkpoint_keys DISABLE TRIGGER USER;
            \(sql);
            COMMIT
            """)
    }
}

extension SealingFixture {
    /// Copies every table; for ``tamper(_:)``.
    static let backUp = forEachTable("CREATE TABLE kept_%1$s AS TABLE %1$I")

    /// Restores every table from its copy.
    static let restoreBackup =
        forEachTable("DELETE FROM %1$I") + ";"
        + forEachTable("INSERT INTO %1$I TABLE kept_%1$s")

    /// Returns the SQL that runs a statement for each table of the ledger with rows of a tenant.
    private static func forEachTable(_ statement: String) -> String {
        """
        DO $each$ DECLARE place text; BEGIN
            FOR place IN SELECT table_name FROM information_schema.columns c
                JOIN information_schema.tables t USING (table_schema, table_name)
                WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id'
                    AND t.table_type = 'BASE TABLE' AND table_name NOT LIKE 'kept\\_%'
            LOOP EXECUTE format('\(statement)', place); END LOOP;
        END $each$
        """
    }
}

extension Story {
    /// Signs people in, with one account and two events each.
    mutating func people(_ range: Range<Int>) async throws {
        for number in range {
            _ = try await signIn("apple", "person-\(number)")
        }
    }
}
