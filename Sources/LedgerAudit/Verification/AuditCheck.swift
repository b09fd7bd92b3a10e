import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// Compares `account_audit` with the fold, event by event, both in the order of positions.
struct AuditCheck {
    private static let columns = """
        account_id, account_seq, position, event_id, recorded_at, type, outcome, reason, actor,
        provider, identity_id, session_id, request_id, providers_before, providers_after
        """

    private let tenant: TenantID
    private let checkpoint: LogPosition
    private let comparesClientIP: Bool
    private let erased: ErasedAccounts
    private var cursor: RowCursor
    /// The last row read, whose event has not been folded yet.
    private var ahead: AuditRow?

    init(
        _ tenant: TenantID, table: ProjectionTable, checkpoint: LogPosition, comparesClientIP: Bool,
        erased: ErasedAccounts, on connection: Connection
    ) throws(PostgresError) {
        self.tenant = tenant
        self.checkpoint = checkpoint
        self.comparesClientIP = comparesClientIP
        self.erased = erased
        cursor = try RowCursor(
            "\(table)_rows",
            """
            SELECT \(Self.columns), \(comparesClientIP ? "client_ip" : "NULL::text AS client_ip")
            FROM \(table)
            WHERE tenant_id = \(quoteLiteral(tenant.description)) ORDER BY position, account_id
            """, on: connection)
    }

    /// Returns the linked providers of an event's accounts.
    static func providers(of recorded: RecordedEvent, in state: LedgerState) -> [[String]] {
        recorded.accounts.map { reference in
            state.accounts[reference.id]?.linkedProviders.map(\.description) ?? []
        }
    }

    /// Compares the rows of an event that was just folded.
    mutating func compare(
        _ recorded: RecordedEvent, _ disclosed: DisclosedValues, before: [[String]],
        state: LedgerState, report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) {
        guard recorded.position < checkpoint else { return }
        let stored = try rows(at: recorded.position, report: &report, on: connection)
        let after = Self.providers(of: recorded, in: state)
        // Until the table is folded up to an erasure, it may contain addresses that no key decrypts any more.
        let isKnown = erased[recorded].map { $0.position < checkpoint } ?? true
        for (index, reference) in recorded.accounts.enumerated() {
            report.count(.accountAudit)
            let expected = AuditRow(
                recorded, for: reference, clientIP: disclosed.clientIP, before: before[index],
                after: after[index])
            guard let row = stored.first(where: { $0.account == reference.id }) else {
                add(recorded.position, "the row of account \(reference.id) is missing", &report)
                continue
            }
            if let column = expected.differingColumn(
                from: row, comparingClientIP: comparesClientIP && isKnown)
            {
                add(
                    recorded.position,
                    "\(column) of account \(reference.id) is not what the log says", &report)
            }
        }
        for row in stored where !recorded.accounts.contains(where: { $0.id == row.account }) {
            add(row.position, "the row of account \(row.account) is surplus", &report)
        }
    }

    /// Reports the remaining rows after the end of the log.
    mutating func end(
        _ report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) {
        _ = try rows(at: LogPosition(.max), report: &report, on: connection)
    }

    /// Returns the stored rows of a position; earlier ones belong to no event and are findings.
    private mutating func rows(
        at position: LogPosition, report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) -> [AuditRow] {
        var rows: [AuditRow] = []
        while let row = try next(&report, on: connection) {
            if row.position > position {
                ahead = row
                break
            }
            if row.position == position, position < checkpoint {
                rows.append(row)
            } else {
                add(row.position, "the row of account \(row.account) is surplus", &report)
            }
        }
        return rows
    }

    private mutating func next(
        _ report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) -> AuditRow? {
        if let row = ahead {
            ahead = nil
            return row
        }
        while let (result, row) = try cursor.next(on: connection) {
            do throws(PostgresError) {
                return try AuditRow(result, row)
            } catch {
                guard case .unexpectedResult = error else { throw error }
                add(nil, "a row cannot be read", &report)
            }
        }
        return nil
    }

    private func add(_ position: LogPosition?, _ text: String, _ report: inout VerificationReport) {
        report.add(
            VerificationFinding(
                tenant: tenant.description, position: position, check: .accountAudit, text: text))
    }
}

extension AuditRow {
    fileprivate init(_ result: QueryResult, _ row: Int) throws(PostgresError) {
        self.init(
            account: AccountID(bits: try result.uuid(row, result.column("account_id"))),
            sequence: try result.int8(row, result.column("account_seq")),
            position: LogPosition(try result.int8(row, result.column("position"))),
            event: EventID(bits: try result.uuid(row, result.column("event_id"))),
            recordedAt: Timestamp(
                microseconds: try result.timestamp(row, result.column("recorded_at"))),
            type: try result.text(row, result.column("type")),
            outcome: try result.text(row, result.column("outcome")),
            reason: try result.optionalText(row, result.column("reason")),
            actor: try result.text(row, result.column("actor")),
            provider: try result.optionalText(row, result.column("provider")),
            identity: try result.optionalUUID(row, result.column("identity_id")).map {
                IdentityID(bits: $0)
            },
            session: try result.optionalUUID(row, result.column("session_id")).map {
                SessionID(bits: $0)
            },
            request: try result.optionalUUID(row, result.column("request_id")).map {
                RequestID(bits: $0)
            },
            clientIP: try result.optionalText(row, result.column("client_ip")),
            providersBefore: try result.textArray(row, result.column("providers_before")),
            providersAfter: try result.textArray(row, result.column("providers_after")))
    }
}
