package import Ledger
package import LedgerEngine
import LedgerPostgres
package import Postgres
import TransparencyLog

/// A comparison of a restored database with a sealer's external record.
///
/// Finds the events that the restore lost and the erased accounts that it brought back.
package struct RestoreCheck {
    /// The number of accounts per query.
    private static let accountsMax = 1_000

    private static let begin = Statement(
        "restore_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let head = Statement(
        "restore_head",
        """
        SELECT next_position, \(PlausibleTime.sql("last_recorded_at")) AS last_recorded_at
        FROM ledger_head WHERE tenant_id = $1
        """)

    // A restore is usually recorded soon after it; the last events come first.
    private static let recorded = Statement(
        "restore_recorded",
        """
        SELECT position, entry FROM events
        WHERE tenant_id = $1 AND type = 'LedgerRestored' ORDER BY position DESC
        """)

    private static let hasSealerKeys = Statement(
        "restore_was_sealed",
        "SELECT EXISTS (SELECT FROM checkpoint_keys WHERE tenant_id = $1)")

    private static let acceptedKeys = Statement(
        "restore_good_keys",
        """
        SELECT key_id, label FROM api_keys
        WHERE tenant_id = $1 AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > statement_timestamp())
        ORDER BY created_at, key_id
        """)

    /// The living ones of some accounts, each with itself and then with all accounts merged with it.
    private static let living = Statement(
        "restore_living",
        """
        WITH RECURSIVE family (account_id, member) AS (
            SELECT k.account_id, k.account_id FROM unnest($2::uuid[]) AS k (account_id)
            UNION
            SELECT f.account_id, a.member FROM family f
            CROSS JOIN LATERAL (
                SELECT merged_into AS member FROM accounts
                WHERE tenant_id = $1 AND account_id = f.member AND merged_into IS NOT NULL
                UNION ALL
                SELECT account_id FROM accounts
                WHERE tenant_id = $1 AND merged_into = f.member
                OFFSET 0) a)
        SELECT f.account_id, f.member, coalesce(a.legal_holds, '{}') AS legal_holds
        FROM family f
        CROSS JOIN LATERAL (
            SELECT legal_holds FROM accounts
            WHERE tenant_id = $1 AND account_id = f.member OFFSET 0) a
        ORDER BY f.account_id, f.member <> f.account_id
        """)

    private let tenant: TenantID
    private let directory: SealerDirectory

    /// Configures the comparison.
    package init(of tenant: TenantID, with directory: SealerDirectory) {
        self.tenant = tenant
        self.directory = directory
    }

    /// Compares in one snapshot; changes nothing.
    ///
    /// - Throws: `SealerRecordFault` if the record is unreadable or belongs to another log,
    ///   `PostgresError`.
    package func run(on connection: Connection) throws -> RestoreReport {
        try connection.transaction(Self.begin) {
            let sealed = try connection.query(Self.hasSealerKeys, [.text(tenant.description)])
            try directory.expectRecord(of: tenant, wasSealed: try sealed.bool(0, 0))
            return try report(on: connection)
        }
    }

    private func report(on connection: Connection) throws -> RestoreReport {
        let row = try connection.query(Self.head, [.text(tenant.description)])
        var size: Int64 = 0
        var lastRecordedAt: Timestamp?
        if row.rowCount == 1 {
            size = try row.int8(0, row.column("next_position"))
            lastRecordedAt = Timestamp(
                microseconds: try row.timestamp(0, row.column("last_recorded_at")))
        }
        let number = try directory.originNumber(of: tenant)
        let erasures = try directory.erasures(of: tenant)
        var signed = try directory.lastSigned(of: tenant)
        var next = number + 1
        var loss: RestoreReport.Loss?
        var recordedAt: LogPosition?
        if let signed {
            loss = try self.loss(signed.checkpoint, size: size, on: connection)
            if loss == nil, try hasUnsigned(on: connection) { loss = .name }
            if loss != nil {
                recordedAt = try recorded(signed.checkpoint, origin: next, on: connection)
            }
        } else if let former = try directory.lastSignedBefore(of: tenant) {
            if try recorded(former.checkpoint, origin: number, on: connection) == nil {
                // The log's name comes from a restore that the log does not record: it was restored
                // again.
                signed = former
                next = number
                loss = try self.loss(former.checkpoint, size: size, on: connection) ?? .statement
            } else if try hasUnsigned(on: connection) {
                signed = former
                loss = .name
                recordedAt = try recorded(former.checkpoint, origin: next, on: connection)
            }
        }
        return RestoreReport(
            tenant: tenant, size: size, lastRecordedAt: lastRecordedAt, signed: signed,
            nextOrigin: next, loss: loss,
            recordedAt: recordedAt, returned: try returned(erasures, on: connection),
            erasureCount: erasures.count, acceptedKeys: try acceptedKeys(on: connection))
    }

    private func acceptedKeys(on connection: Connection) throws -> [RestoreReport.AcceptedKey] {
        let result = try connection.query(Self.acceptedKeys, [.text(tenant.description)])
        return try (0..<result.rowCount).map { row in
            RestoreReport.AcceptedKey(
                id: APIKeyID(bits: try result.uuid(row, result.column("key_id"))),
                label: try result.text(row, result.column("label")))
        }
    }

    private func loss(
        _ signed: Checkpoint, size: Int64, on connection: Connection
    ) throws -> RestoreReport.Loss? {
        guard size >= signed.size else { return .end }
        return try root(of: signed.size, on: connection) == signed.root ? nil : .contents
    }

    /// Checks for checkpoints under the log's current name that its keys have not signed.
    private func hasUnsigned(on connection: Connection) throws -> Bool {
        let logState = try directory.logState(of: tenant, mayBegin: false)
        let checkpoints = SignedCheckpoints(
            tenant: tenant, verifiers: logState.verifiers, connection: connection)
        var first: Int64 = 1
        do {
            while true {
                let page = try checkpoints.page(
                    sizes: first...(.max), limit: ProofReads.pageMax, origin: logState.origin)
                if page.unsignedCount > 0 { return true }
                guard page.signed.count >= ProofReads.pageMax, let last = page.signed.last,
                    last.size < .max
                else { return false }
                first = last.size + 1
            }
        } catch is ProofDamage {
            return true
        }
    }

    /// Computes the root of the first events from their stored bytes; nil if one is missing.
    private func root(of size: Int64, on connection: Connection) throws -> TreeHash? {
        var tree = CompactRange()
        while tree.size < size {
            let limit = Int(min(Int64(LogReader.pageMax), size - tree.size))
            let results = try connection.pipeline([
                LogReader.entriesCall(from: LogPosition(tree.size), in: tenant, limit: limit)
            ])
            guard let page = results.first, page.rowCount == limit else { return nil }
            for row in 0..<page.rowCount {
                guard try page.int8(row, page.column("position")) == tree.size else { return nil }
                _ = tree.append(TreeHash.leaf(try page.bytes(row, page.column("entry"))))
            }
        }
        return tree.root
    }

    /// Returns the position at which the log records that it was truncated after a checkpoint and
    /// renamed.
    private func recorded(
        _ signed: Checkpoint, origin: Int64, on connection: Connection
    ) throws -> LogPosition? {
        let result = try connection.query(Self.recorded, [.text(tenant.description)])
        for row in 0..<result.rowCount {
            guard
                let recorded = try? EntryEncoding.decode(
                    try result.bytes(row, result.column("entry"))),
                case .ledgerRestored(let fact) = recorded.event
            else { continue }
            if fact.origin == origin, fact.size == signed.size,
                fact.root.bytes == signed.root.bytes
            {
                return LogPosition(try result.int8(row, result.column("position")))
            }
        }
        return nil
    }

    /// Returns the erased accounts that are live in the database.
    private func returned(
        _ erasures: [SeenErasure], on connection: Connection
    ) throws -> [RestoreReport.ReturnedAccount] {
        var erasedAt: [AccountID: Timestamp] = [:]
        for erasure in erasures {
            erasedAt[erasure.account] = erasedAt[erasure.account] ?? erasure.recordedAt
        }
        let accounts = erasedAt.keys.sorted()
        var returned: [RestoreReport.ReturnedAccount] = []
        for start in stride(from: 0, to: accounts.count, by: Self.accountsMax) {
            let result = try connection.query(
                Self.living,
                [
                    .text(tenant.description),
                    .uuids(accounts[start...].prefix(Self.accountsMax).map(\.bits)),
                ])
            for row in 0..<result.rowCount {
                let account = AccountID(bits: try result.uuid(row, result.column("account_id")))
                let member = AccountID(bits: try result.uuid(row, result.column("member")))
                let holds = try result.uuidArray(row, result.column("legal_holds")).map {
                    HoldID(bits: $0)
                }
                let time = erasedAt[member]
                let former = holds.filter { hold in time.map { hold.madeAt <= $0 } ?? false }
                let new = holds.filter { !former.contains($0) }
                if member == account, let time {
                    returned.append(
                        RestoreReport.ReturnedAccount(
                            account: account, erasedAt: time, formerHolds: former, newHolds: new))
                } else if returned.last?.account == account {
                    returned[returned.count - 1].newHolds += new
                    if time == nil { returned[returned.count - 1].unerased.append(member) }
                }
            }
        }
        return returned
    }
}
