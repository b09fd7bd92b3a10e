import Ledger
import LedgerEngine
import Postgres

/// Reads what a fold onto a table of `account_audit` needs, and writes its rows.
///
/// The read model is each account's history: one row for each event and account it touches.
struct AccountAuditTable {
    /// The maximum number of rows that one statement changes.
    private static let rowsMax = 10_000

    private let name: String

    init(_ name: String) {
        self.name = name
    }

    // Lateral, so that each account is an index look-up, whatever the planner's estimate of the table.
    private var latest: Statement {
        Statement(
            "\(name)_latest",
            """
            SELECT k.account_id, l.account_seq, l.providers_after
            FROM unnest($2::uuid[]) AS k (account_id)
            CROSS JOIN LATERAL (
                SELECT account_seq, providers_after FROM \(name)
                WHERE tenant_id = $1 AND account_id = k.account_id
                ORDER BY account_seq DESC LIMIT 1) l
            """)
    }

    private var linkHistory: Statement {
        Statement(
            "\(name)_link_history",
            """
            SELECT a.account_id, a.type, a.identity_id, a.provider, e.entry
            FROM unnest($2::uuid[]) AS k (account_id)
            CROSS JOIN LATERAL (
                SELECT * FROM \(name) WHERE tenant_id = $1 AND account_id = k.account_id
                    AND type IN ('ProviderLinked', 'ProviderUnlinked', 'AccountsMerged',
                        'AccountsUnmerged')
                OFFSET 0) a
            LEFT JOIN LATERAL (
                SELECT entry FROM events WHERE tenant_id = $1 AND position = a.position
                    AND a.type IN ('AccountsMerged', 'AccountsUnmerged')
                OFFSET 0) e ON true
            ORDER BY a.account_id, a.account_seq
            """)
    }

    /// The statements of a load, without those that have nothing to look up.
    struct Load {
        fileprivate let latest: Call?
        fileprivate let linkHistory: Call?

        var calls: [Call] { [latest, linkHistory].compactMap(\.self) }
    }

    /// Returns the statements that load the latest rows of accounts, and the links of those that unlink.
    ///
    /// With several identities of one provider, its name alone does not show whether the provider goes: for
    /// accounts that unlink, the links are loaded one by one.
    func load(
        of accounts: some Collection<AccountID>, unlinking: some Collection<AccountID>,
        in tenant: TenantID
    ) -> Load {
        func call(_ statement: Statement, _ accounts: some Collection<AccountID>) -> Call? {
            guard !accounts.isEmpty else { return nil }
            return Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
        }
        return Load(latest: call(latest, accounts), linkHistory: call(linkHistory, unlinking))
    }

    /// Reads the results of a load and adds them to the known states.
    static func historyStates(
        _ results: ArraySlice<QueryResult>, of load: Load,
        beside known: [AccountID: AccountAuditFold.HistoryState] = [:]
    ) throws(PostgresError) -> [AccountID: AccountAuditFold.HistoryState] {
        guard results.count == load.calls.count else {
            throw .unexpectedResult("account_audit was not loaded")
        }
        var historyStates = known
        if load.latest != nil, let latest = results.first { try read(latest, into: &historyStates) }
        if load.linkHistory != nil, let history = results.last {
            try read(linkHistory: history, into: &historyStates)
        }
        return historyStates
    }

    private static func read(
        _ latest: QueryResult, into historyStates: inout [AccountID: AccountAuditFold.HistoryState]
    ) throws(PostgresError) {
        for row in 0..<latest.rowCount {
            let named = try latest.textArray(row, latest.column("providers_after")).map {
                AccountAuditFold.Link(identity: nil, provider: $0)
            }
            historyStates[AccountID(bits: try latest.uuid(row, latest.column("account_id")))] =
                AccountAuditFold.HistoryState(
                    nextSequence: try latest.int8(row, latest.column("account_seq")) &+ 1,
                    links: named)
        }
    }

    private static func read(
        linkHistory: QueryResult,
        into historyStates: inout [AccountID: AccountAuditFold.HistoryState]
    ) throws(PostgresError) {
        var links: [AccountID: [AccountAuditFold.Link]] = [:]
        for row in 0..<linkHistory.rowCount {
            let account = AccountID(
                bits: try linkHistory.uuid(row, linkHistory.column("account_id")))
            if let entry = try linkHistory.optionalBytes(row, linkHistory.column("entry")) {
                links[account] = try Self.links(of: account, after: entry)
                continue
            }
            let identity = IdentityID(
                bits: try linkHistory.uuid(row, linkHistory.column("identity_id")))
            if try linkHistory.text(row, linkHistory.column("type"))
                == Event.Name.providerLinked.rawValue
            {
                links[account, default: []].append(
                    AccountAuditFold.Link(
                        identity: identity,
                        provider: try linkHistory.text(row, linkHistory.column("provider"))))
            } else {
                links[account]?.removeAll { $0.identity == identity }
            }
        }
        for (account, links) in links {
            guard let historyState = historyStates[account] else { continue }
            historyStates[account] = AccountAuditFold.HistoryState(
                nextSequence: historyState.nextSequence, links: links)
        }
    }

    /// The links that a merge or its reversal left an account.
    private static func links(
        of account: AccountID, after entry: [UInt8]
    ) throws(PostgresError) -> [AccountAuditFold.Link] {
        let links: [Account.Link]
        switch try? EntryEncoding.decode(entry).event {
        case .accountsMerged(let fact): links = account == fact.survivor ? fact.links : []
        case .accountsUnmerged(let fact):
            links = account == fact.survivor ? fact.links : fact.returned
        default: throw .unexpectedResult("account_audit has a merge whose entry is not one")
        }
        return links.map {
            AccountAuditFold.Link(identity: $0.identity, provider: $0.provider.description)
        }
    }

    private var clearAddresses: Statement {
        Statement(
            "\(name)_forget_addresses",
            """
            UPDATE \(name) SET client_ip = NULL
            WHERE tenant_id = $1 AND account_id = ANY ($2::uuid[]) AND client_ip IS NOT NULL
            """)
    }

    private var clearSomeAddresses: Statement {
        Statement(
            "\(name)_forget_some_addresses",
            """
            UPDATE \(name) SET client_ip = NULL
            WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3 AND account_seq < $4
                AND client_ip IS NOT NULL
            """)
    }

    /// Clears the addresses in rows written before the erasures that are among the added rows.
    ///
    /// An account with many events takes several statements, so that each ends before its timeout.
    private func clearAddresses(
        before added: [AuditRow], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) {
        for row in added where row.type == Event.Name.accountErased.rawValue {
            for first in stride(from: 0, to: row.sequence, by: Self.rowsMax) {
                _ = try connection.query(
                    clearSomeAddresses,
                    [
                        .text(tenant.description), .uuid(row.account.bits), .int8(first),
                        .int8(first + Int64(Self.rowsMax)),
                    ])
            }
        }
    }

    /// Clears the addresses of erased accounts in one pass over the table.
    func clearAddresses(
        of accounts: some Collection<AccountID>, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) {
        guard !accounts.isEmpty else { return }
        _ = try connection.query(
            clearAddresses, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    /// The COPY statement, with its columns in the order of ``add(_:of:to:)``.
    var copy: String {
        """
        COPY \(name) (tenant_id, account_id, account_seq, position, event_id, recorded_at, type,
            outcome, reason, actor, provider, identity_id, session_id, request_id, client_ip,
            providers_before, providers_after) FROM STDIN (FORMAT binary)
        """
    }

    /// Adds a row for ``copy``.
    static func add(_ row: AuditRow, of tenant: String, to rows: inout CopyRows) {
        rows.row(columns: 17)
        rows.text(tenant)
        rows.uuid(row.account.bits)
        rows.int8(row.sequence)
        rows.int8(row.position.value)
        rows.uuid(row.event.bits)
        rows.timestamp(row.recordedAt.microseconds)
        rows.text(row.type)
        rows.text(row.outcome)
        rows.text(row.reason)
        rows.text(row.actor)
        rows.text(row.provider)
        rows.uuid(row.identity?.bits)
        rows.uuid(row.session?.bits)
        rows.uuid(row.request?.bits)
        rows.text(row.clientIP)
        rows.texts(row.providersBefore)
        rows.texts(row.providersAfter)
    }

    /// Writes rows inside the open transaction.
    func write(
        _ added: [AuditRow], of tenant: TenantID, through rows: inout CopyRows,
        on connection: Connection
    ) throws(PostgresError) {
        guard !added.isEmpty else { return }
        try clearAddresses(before: added, in: tenant, on: connection)
        let tenant = tenant.description
        rows.removeAll()
        for row in added {
            Self.add(row, of: tenant, to: &rows)
        }
        try connection.write(&rows, by: copy)
    }
}
