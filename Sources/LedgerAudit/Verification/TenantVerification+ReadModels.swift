import JSON
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

extension TenantVerification {
    private static let checkpointRows = Statement(
        "verify_checkpoints",
        """
        SELECT name, generation, position, version, failure FROM projections
        WHERE tenant_id = $1 ORDER BY name, generation
        """
    )

    private static let strayDisclosures = Statement(
        "verify_stray_disclosures",
        """
        (SELECT position FROM disclosures WHERE tenant_id = $1 AND position < 0 LIMIT 1)
        UNION ALL
        (SELECT position FROM disclosures WHERE tenant_id = $1 AND position >= $2
         ORDER BY position LIMIT 1)
        """)

    /// Reads the checkpoints of the projections and checks that none has stopped.
    mutating func readCheckpoints(
        head: LogPosition, on connection: Connection
    ) throws(PostgresError) {
        tables = try ProjectionTables.live(on: connection).map(\.table)
        let result = try connection.query(Self.checkpointRows, [.text(tenant.description)])
        for row in 0..<result.rowCount {
            let name = try result.text(row, result.column("name"))
            let generation = try result.int4(row, result.column("generation"))
            // A table of another program version, or one that is being built, is not checked here.
            let found = tables.first {
                $0.projection.rawValue == name && $0.generation == generation
            }
            guard let table = found else { continue }
            report.count(.projections)
            let position = LogPosition(try result.int8(row, result.column("position")))
            checkpoints[table] = position
            if position < LogPosition(0) || position > head {
                add(.projections, position, "the checkpoint of \(table) is outside the log")
            }
            let version = try result.int4(row, result.column("version"))
            if version != table.version || !table.isKnown {
                add(.projections, position, "\(table) has version \(version), unknown here")
            }
            if let failure = try result.optionalText(row, result.column("failure")) {
                add(.projections, position, "\(table) has stopped: \(failure)")
            }
        }
    }

    /// Returns the live tables of a projection whose fold version this program knows.
    func tables(of projection: ProjectionName) -> [ProjectionTable] {
        tables.filter { $0.projection == projection && $0.isKnown }
    }

    /// Compares the tables of `user_providers` whose checkpoint the fold has reached.
    mutating func compareUserProviders(
        atEnd: Bool = false, on connection: Connection
    ) throws(PostgresError) {
        for table in tables(of: .userProviders) where !compared.contains(table) {
            guard atEnd || state.nextPosition == checkpoints[table] else { continue }
            compared.insert(table)
            try compareUserProviders(in: table, on: connection)
        }
    }

    /// Compares `user_providers` with the state of the fold at its checkpoint.
    private mutating func compareUserProviders(
        in table: ProjectionTable, on connection: Connection
    ) throws(PostgresError) {
        guard foldFault == nil else { return }
        var expected: [UserProvidersFold.Key: Account.Link] = [:]
        if state.nextPosition <= checkpoints[table] ?? LogPosition(0) {
            for account in state.accounts.values {
                for link in account.links {
                    expected[.init(account: account.id, identity: link.identity)] = link
                }
            }
        }
        try eachRow(
            of: .userProviders, in: table.description,
            """
            user_id, identity_id, provider,
            \(isPersonal ? "provider_id, email" : "NULL::text AS provider_id, NULL::text AS email"),
            linked_at, linked_position,
            \(isPersonal ? "email_verified" : "NULL::boolean AS email_verified")
            """,
            on: connection
        ) { check, result, row throws(PostgresError) in
            let key = UserProvidersFold.Key(
                account: AccountID(bits: try result.uuid(row, result.column("user_id"))),
                identity: IdentityID(bits: try result.uuid(row, result.column("identity_id"))))
            let position = LogPosition(try result.int8(row, result.column("linked_position")))
            guard let link = expected.removeValue(forKey: key) else {
                return check.add(
                    .userProviders, position,
                    "the row of identity \(key.identity) of account \(key.account) is surplus")
            }
            // Until the table is folded up to an account's erasure, it still contains the erased disclosures.
            let opens =
                check.disclosures != nil && check.erased.rows[key.account] == nil
            let email = check.personal.emails[key.identity]
            let differing: String? =
                if try result.text(row, result.column("provider")) != link.provider.description {
                    "provider"
                } else if opens,
                    !(try result.optionalText(row, result.column("provider_id"))).isExactly(
                        check.personal.providerIDs[key.identity])
                {
                    "provider_id"
                } else if opens,
                    !(try result.optionalText(row, result.column("email"))).isExactly(
                        email?.address)
                {
                    "email"
                } else if opens,
                    try result.optionalBool(row, result.column("email_verified"))
                        != email?.isVerified
                {
                    "email_verified"
                } else if try result.timestamp(row, result.column("linked_at"))
                    != link.linkedAt.microseconds
                {
                    "linked_at"
                } else if position != link.position {
                    "linked_position"
                } else {
                    nil
                }
            if let differing {
                check.add(
                    .userProviders, link.position,
                    "\(differing) of identity \(key.identity) is not what the log says")
            }
        }
        for (key, link) in expected.sorted(by: { $0.value.position < $1.value.position }) {
            add(
                .userProviders, link.position,
                "the row of identity \(key.identity) of account \(key.account) is missing")
        }
    }

    /// Finds disclosures outside the log.
    mutating func findStrayDisclosures(on connection: Connection) throws(PostgresError) {
        let result = try connection.query(
            Self.strayDisclosures, [.text(tenant.description), .int8(nextPosition.value)])
        for row in 0..<result.rowCount {
            add(
                .disclosures, LogPosition(try result.int8(row, 0)),
                "a disclosure belongs to no event")
        }
    }
}
