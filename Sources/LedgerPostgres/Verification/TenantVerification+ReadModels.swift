import Ledger
import Postgres

extension TenantVerification {
    private static let checkpointRows = Statement(
        "verify_checkpoints",
        """
        SELECT name, position, version, failure FROM projections
        WHERE tenant_id = $1 ORDER BY name
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

    /// Reads where the projections stand and checks that none has stopped.
    mutating func readCheckpoints(
        head: LogPosition, on connection: Connection
    ) throws(PostgresError) {
        let result = try connection.query(Self.checkpointRows, [.text(tenant.description)])
        for row in 0..<result.rowCount {
            // A table of another program's version is not this one's to judge.
            guard let name = ProjectionName(rawValue: try result.text(row, 0)) else { continue }
            report.count(.projections)
            let position = LogPosition(try result.int8(row, 1))
            checkpoints[name] = position
            if position < LogPosition(0) || position > head {
                add(.projections, position, "the checkpoint of \(name) is outside the log")
            }
            let version = try result.int4(row, 2)
            if version != name.version {
                add(.projections, position, "\(name) has version \(version), unknown here")
            }
            if let failure = try result.optionalText(row, 3) {
                add(.projections, position, "\(name) has stopped: \(failure)")
            }
        }
    }

    /// Compares `user_providers` with the state of the fold, which stands at its checkpoint.
    mutating func compareUserProviders(on connection: Connection) throws(PostgresError) {
        guard foldFault == nil else { return }
        var expected: [UserProvidersFold.Key: Account.Link] = [:]
        if state.nextPosition <= checkpoints[.userProviders] ?? LogPosition(0) {
            for account in state.accounts.values {
                for link in account.links {
                    expected[.init(account: account.id, identity: link.identity)] = link
                }
            }
        }
        try eachRow(
            of: .userProviders,
            "user_id, identity_id, provider, provider_id, email, linked_at, linked_position",
            on: connection
        ) { check, result, row throws(PostgresError) in
            let key = UserProvidersFold.Key(
                account: AccountID(bits: try result.uuid(row, 0)),
                identity: IdentityID(bits: try result.uuid(row, 1)))
            let position = LogPosition(try result.int8(row, 6))
            guard let link = expected.removeValue(forKey: key) else {
                return check.add(
                    .userProviders, position,
                    "the row of identity \(key.identity) of account \(key.account) is surplus")
            }
            let opens = check.disclosures != nil
            let differing: String? =
                if try result.text(row, 2) != link.provider.description {
                    "provider"
                } else if opens,
                    !isExactly(
                        try result.optionalText(row, 3), check.personal.providerIDs[key.identity])
                {
                    "provider_id"
                } else if opens,
                    !isExactly(
                        try result.optionalText(row, 4), check.personal.emails[key.identity])
                {
                    "email"
                } else if try result.timestamp(row, 5) != link.linkedAt.microseconds {
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

    /// Looks for disclosures outside of the log.
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
