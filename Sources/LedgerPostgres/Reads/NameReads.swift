package import Ledger
package import LedgerEngine
import Postgres

/// Reads of external ids on their own connection.
package struct NameReads: NameReader {
    private static let own = NameLoad.Columns.selected("n") + ["n.mac", "m.survivor"]
    private static let list = own + HeadLoad.list
    private static let columns = NameLoad.Columns("n", in: list)
    private static let mac = list["n.mac"]
    private static let survivor = list["m.survivor"]
    private static let head = HeadLoad.Columns("h", in: list)

    /// An absorbed account resolves to its survivor, which may be absorbed, too.
    ///
    /// The head shows whether the tenant is protected; it is read only for a row without a MAC.
    private static let statement = Statement(
        "named_account",
        """
        SELECT \(own.sql), h.* FROM names n
        CROSS JOIN LATERAL (
            WITH RECURSIVE up AS (
                SELECT n.account_id AS survivor, 0 AS depth
                UNION ALL
                SELECT a.merged_into, u.depth + 1 FROM up u
                CROSS JOIN LATERAL (
                    SELECT merged_into FROM accounts
                    WHERE tenant_id = $1 AND account_id = u.survivor AND merged_into IS NOT NULL
                    OFFSET 0) a
                WHERE u.depth < \(MergeAccounts.familyMax)
            )
            SELECT survivor FROM up ORDER BY depth DESC LIMIT 1) m
        LEFT JOIN LATERAL (
            SELECT \(HeadLoad.list.sql) FROM ledger_head h
            WHERE h.tenant_id = $1 AND n.mac IS NULL
            OFFSET 0) h ON true
        WHERE n.tenant_id = $1 AND n.source = $2 AND n.external_id = $3
        """)

    /// The ids of an account and of those merged into it.
    private static let namesOfAccount = Statement(
        "names_of_account",
        """
        \(MergedAccounts.family)
        SELECT \(own.sql), h.* FROM family m
        CROSS JOIN LATERAL (
            SELECT * FROM names
            WHERE tenant_id = $1 AND account_id = m.account_id AND source = ANY ($3::text[])
            OFFSET 0) n
        LEFT JOIN LATERAL (
            SELECT \(HeadLoad.list.sql) FROM ledger_head h
            WHERE h.tenant_id = $1 AND n.mac IS NULL
            OFFSET 0) h ON true
        ORDER BY m.depth, n.position LIMIT $4
        """)

    private struct Reading {
        let parameters: [Parameter]
        let tenant: TenantID
    }

    /// The settings of the primary, since a sign-in or a refresh waits for the ids.
    private static let settings =
        ConnectionSettings.primary + ConnectionSettings.limits(idle: 2, lock: 1, statement: 1)
        + ConnectionSettings.lookups

    private let session: Postgres.Session
    /// The reads for tokens; those that wait together share a round trip.
    private let tokenReads: GroupedCalls<Reading, Result<[Row], BatchFault>>
    private let macs: MACKeys?
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read `names` and `accounts`.
    ///   - macs: Authenticate the rows.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(url: String, macs: MACKeys?, onFault: @escaping @Sendable (String) -> Void) {
        self.macs = macs
        self.onFault = onFault
        let session = Postgres.Session(
            url: url, applicationName: "account-ledger names", connectTimeout: .seconds(2),
            runDeadline: .seconds(3)
        ) { try $0.execute(Self.settings) }
        self.session = session
        tokenReads = GroupedCalls { readings in
            try await session.run { connection in
                let results = try connection.pipeline(
                    readings.map { Call(Self.namesOfAccount, $0.parameters) })
                return try zip(readings, results).map { reading, rows in
                    do {
                        return .success(try Self.read(rows, of: reading.tenant, macs))
                    } catch let fault as BatchFault {
                        return .failure(fault)
                    }
                }
            }
        }
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the account that has an external id; nil when none has it, or it was erased.
    package func account(
        named name: ExternalName, in tenant: TenantID
    ) async throws(LedgerFault) -> NamedAccount? {
        try await rows(
            Self.statement,
            [.text(tenant.description), .text(name.source.description), .text(name.id)],
            of: tenant
        ).first.map {
            NamedAccount(
                named: $0.held.account, survivor: $0.survivor, position: $0.held.position)
        }
    }

    /// Returns ids of an account and of those merged into it.
    package func names(
        of account: AccountID, in sources: [NameSource], countMax: Int, of tenant: TenantID
    ) async throws(LedgerFault) -> [ExternalName] {
        let reading = Reading(
            parameters: [
                .text(tenant.description), .uuids([account.bits]),
                .texts(sources.map(\.description)), .int8(Int64(countMax)),
            ], tenant: tenant)
        do {
            return try await tokenReads.run(reading).get().map(\.name)
        } catch {
            onFault("reading external ids failed: \(error)")
            throw .unavailable
        }
    }

    private struct Row {
        let held: HeldName
        let name: ExternalName
        let survivor: AccountID
    }

    /// Reads rows whose MACs are right.
    private func rows(
        _ statement: Statement, _ parameters: [Parameter], of tenant: TenantID
    ) async throws(LedgerFault) -> [Row] {
        do {
            return try await session.run { [macs] connection in
                try Self.read(connection.query(statement, parameters), of: tenant, macs)
            }
        } catch {
            onFault("reading external ids failed: \(error)")
            throw .unavailable
        }
    }

    private static func read(
        _ rows: QueryResult, of tenant: TenantID, _ macs: MACKeys?
    ) throws -> [Row] {
        try (0..<rows.rowCount).map { row in
            let (held, name) = try columns.read(rows, row)
            if let macs, try !isRight(rows, row, held, name, in: tenant, macs) {
                throw BatchFault.damaged("the external id of position \(held.position)")
            }
            return Row(
                held: held, name: name, survivor: AccountID(bits: try rows.uuid(row, survivor)))
        }
    }

    /// Checks the MAC of a row; without one, a row is valid while its tenant is not protected.
    private static func isRight(
        _ rows: QueryResult, _ row: Int, _ held: HeldName, _ stored: ExternalName,
        in tenant: TenantID, _ macs: MACKeys
    ) throws -> Bool {
        if let mac = try rows.optionalBytes(row, mac) {
            return macs.accept(mac, of: .name(held, stored, of: tenant))
        }
        guard try !rows.isNull(row, head.tenant) else { return false }
        return try HeadLoad.readMACs(rows, row, of: tenant, keys: macs, columns: head)
            .acceptsRowsWithoutMACs
    }
}
