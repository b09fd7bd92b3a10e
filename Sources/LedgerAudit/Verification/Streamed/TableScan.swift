import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// One table beside the log, read once in full.
enum TableScan: Sendable {
    case accountAudit(ProjectionTable)
    case userProviders(ProjectionTable)
    case conflicts(ProjectionTable)
    case sessions
    case identities
    case accounts
    case erasures
    case merges
    case rules
    case addresses
    case names
    case credentials
    case factors

    /// Returns every table, the longest first, so that it does not finish last.
    static func all(projections tables: [ProjectionTable]) -> [TableScan] {
        tables.filter { $0.projection == .accountAudit }.map { .accountAudit($0) }
            + [.sessions, .identities]
            + tables.filter { $0.projection == .userProviders }.map { .userProviders($0) }
            + tables.filter { $0.projection == .conflicts }.map { .conflicts($0) }
            + [.accounts, .names, .erasures, .merges, .rules, .addresses, .credentials, .factors]
    }

    /// Adds the table's rows to the sums; returns false when two rows have the same identifier.
    func run(
        of tenant: TenantID, summer: RowSummer, _ sums: inout RowSums, on connection: Connection
    ) throws -> Bool {
        var summer = summer
        var isSound = true
        let isPersonal = summer.isPersonal
        switch self {
        case .accountAudit(let table):
            let columns = isPersonal ? 0..<16 : 0..<15
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.projections[table, default: .init()].add(summer.hash($0, columns))
            }
        case .sessions:
            var last: UInt128?
            try copy(of: tenant, isPersonal: isPersonal, on: connection) { row in
                let id = try row.uuid(0)
                // The sums alone cannot distinguish a duplicate identifier from two sessions.
                if let last, id <= last { isSound = false }
                last = id
                sums.sessionsOpened.add(summer.hash(row, 0..<7))
                if !row.isNull(7) { sums.sessionsEnded.add(summer.hash(row, 0, 7)) }
            }
        case .identities:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.identities.add(summer.hash($0, 0..<7, digests: isPersonal ? 7..<8 : nil))
            }
        case .userProviders(let table):
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.projections[table, default: .init()].add(
                    summer.hash($0, 0..<5, digests: isPersonal ? 5..<7 : nil))
            }
        case .conflicts(let table):
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.projections[table, default: .init()].add(
                    summer.hash($0, 0..<ConflictsTable.columnCount))
            }
        case .accounts:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.accountStates.add(summer.hash($0, 0..<4))
                sums.accountsOpened.add(summer.hash($0, 0, 4))
                if !$0.isNull(5) { sums.holds.add(summer.hash($0, 0, 5)) }
                if !$0.isNull(6) { sums.absorbed.add(summer.hash($0, 0, 6)) }
                if !$0.isNull(7) { sums.disabled.add(summer.hash($0, 0, 7)) }
                if !$0.isNull(8) { sums.secondFactors.add(summer.hash($0, 0, 8)) }
                if !$0.isNull(9) { sums.handedOver.add(summer.hash($0, 0, 9)) }
            }
        case .erasures:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.accountStates.add(summer.hash($0, 0..<4))
                sums.accountsOpened.add(summer.hash($0, 0, 4))
                sums.erasures.add(summer.hash($0, 5..<8))
            }
        case .merges:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.merges.add(summer.hash($0, 0..<7))
            }
        case .rules:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.rules.add(summer.hash($0, 0..<2))
            }
        case .addresses:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.addresses.add(summer.hash($0, 0..<7))
            }
        case .names:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.names.add(summer.hash($0, 0..<3, digests: isPersonal ? 3..<4 : nil))
            }
        case .credentials:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.credentials.add(summer.hash($0, 0..<2))
            }
        case .factors:
            try copy(of: tenant, isPersonal: isPersonal, on: connection) {
                sums.factors.add(summer.hash($0, 0..<6))
            }
        }
        return isSound
    }

    private func copy(
        of tenant: TenantID, isPersonal: Bool, on connection: Connection,
        _ body: (CopyRow) throws -> Void
    ) throws {
        let condition = "WHERE tenant_id = \(quoteLiteral(tenant.description))"
        let query =
            switch self {
            case .accountAudit(let table):
                """
                SELECT account_id, account_seq, position, event_id, recorded_at, type, outcome,
                    reason, actor, provider, identity_id, session_id, request_id,
                    providers_before, providers_after\(isPersonal ? ", client_ip" : "")
                FROM \(table) \(condition)
                """
            case .sessions:
                """
                SELECT session_id, account_id, identity_id, authenticated_at, methods,
                    opened_at, opened_position, ended_position
                FROM sessions \(condition) ORDER BY session_id
                """
            case .identities:
                """
                SELECT identity_id, provider, account_id, last_account_id, linked_at,
                    linked_position, unlink_due\(isPersonal ? ", provider_id" : "")
                FROM identities \(condition)
                """
            case .userProviders(let table):
                """
                SELECT user_id, identity_id, provider, linked_at, linked_position
                    \(isPersonal ? ", provider_id, \(ComparedEmail.sql)" : "")
                FROM \(table) \(condition)
                """
            case .conflicts(let table):
                "SELECT \(ConflictsTable.columns) FROM \(table) \(condition)"
            case .accounts:
                """
                SELECT account_id, next_seq, last_leaf, last_position, opened_position,
                    legal_holds::text[], merged_into, disabled_position, second_factors::text[],
                    handed_over_position
                FROM accounts \(condition)
                """
            case .erasures:
                """
                SELECT account_id, next_seq, last_leaf, position, opened_position,
                    account_id, position, erased_at
                FROM erasures \(condition)
                """
            case .merges:
                """
                SELECT event_id, position, survivor_id, absorbed_id, moved::text[],
                    dropped::text[], replaced::text[]
                FROM merges \(condition)
                """
            case .rules: "SELECT version, body FROM rules \(condition)"
            case .addresses:
                """
                SELECT address_id, kind, account_id, position, former_of, kept_until,
                    claimed::int::bigint
                FROM addresses \(condition)
                """
            case .names:
                """
                SELECT source, account_id, position\(isPersonal ? ", external_id" : "")
                FROM names \(condition)
                """
            case .credentials: "SELECT identity_id, version FROM credentials \(condition)"
            case .factors:
                """
                SELECT factor_id, account_id, kind, version,
                    CASE kind WHEN 'recovery_codes' THEN counter ELSE 0 END, removal_due
                FROM factors \(condition)
                """
            }
        try connection.copyRows("COPY (\(query)) TO STDOUT (FORMAT binary)", body)
    }
}
