import JSON
import Ledger
import LedgerPostgres
import Postgres

extension TenantVerification {
    /// Streams a table of the tenant and calls the body for each row; an unreadable row is a finding.
    mutating func eachRow(
        of check: VerificationCheck, in table: String? = nil, _ columns: String,
        on connection: Connection,
        _ body: (inout TenantVerification, QueryResult, Int) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        var cursor = try RowCursor(
            "\(table ?? check.rawValue)_rows",
            """
            SELECT \(columns) FROM \(table ?? check.rawValue)
            WHERE tenant_id = \(quoteLiteral(tenant.description))
            """, on: connection)
        while let (result, row) = try cursor.next(on: connection) {
            report.count(check)
            do throws(PostgresError) {
                try body(&self, result, row)
            } catch {
                guard case .unexpectedResult = error else { throw error }
                add(check, nil, "a row cannot be read")
            }
        }
    }

    /// Compares `accounts` with the fold.
    mutating func compareAccounts(on connection: Connection) throws(PostgresError) {
        var seen: Set<AccountID> = []
        try eachRow(
            of: .accounts,
            """
            account_id, opened_position, next_seq, last_leaf, last_position,
            coalesce(legal_holds, '{}') AS legal_holds, merged_into, disabled_position,
            handed_over_position, coalesce(second_factors, '{}') AS second_factors
            """,
            on: connection
        ) { check, result, row throws(PostgresError) in
            let id = AccountID(bits: try result.uuid(row, result.column("account_id")))
            seen.insert(id)
            guard let account = check.state.accounts[id], account.erasedPosition == nil else {
                return check.add(.accounts, nil, "the row of account \(id) is surplus")
            }
            let differing: String? =
                if try result.int8(row, result.column("opened_position"))
                    != account.openedPosition.value
                {
                    "opened_position"
                } else if try result.int8(row, result.column("next_seq")) != account.nextSequence {
                    "next_seq"
                } else if try result.bytes(row, result.column("last_leaf"))
                    != account.lastLeaf.bytes
                {
                    "last_leaf"
                } else if try result.int8(row, result.column("last_position"))
                    != account.lastPosition.value
                {
                    "last_position"
                } else if try result.uuidArray(row, result.column("legal_holds"))
                    != account.holds.map({ $0.bits })
                {
                    "legal_holds"
                } else if try result.optionalUUID(row, result.column("merged_into"))
                    != account.mergedInto?.bits
                {
                    "merged_into"
                } else if try result.optionalInt8(row, result.column("disabled_position"))
                    != account.disabledPosition?.value
                {
                    "disabled_position"
                } else if try result.optionalInt8(row, result.column("handed_over_position"))
                    != account.handedOverPosition?.value
                {
                    "handed_over_position"
                } else if try result.uuidArray(row, result.column("second_factors"))
                    != account.secondFactors.map(\.bits)
                {
                    "second_factors"
                } else {
                    nil
                }
            if let differing {
                check.add(
                    .accounts, account.lastPosition,
                    "\(differing) of account \(id) is not what the log says")
            }
        }
        let missing = state.accounts.values.filter {
            !seen.contains($0.id) && $0.erasedPosition == nil
        }
        for account in missing.sorted(by: { $0.lastPosition < $1.lastPosition }) {
            add(.accounts, account.lastPosition, "the row of account \(account.id) is missing")
        }
    }

    /// Compares `merges` with the fold.
    mutating func compareMerges(on connection: Connection) throws(PostgresError) {
        var expected: [EventID: Merge] = [:]
        for merge in state.accounts.values.flatMap(\.merges) { expected[merge.id] = merge }
        try eachRow(
            of: .merges,
            "event_id, position, survivor_id, absorbed_id, moved, dropped, replaced",
            on: connection
        ) { check, result, row throws(PostgresError) in
            func identities(_ column: String) throws(PostgresError) -> [IdentityID] {
                try result.uuidArray(row, result.column(column)).map { IdentityID(bits: $0) }
            }
            let stored = Merge(
                id: EventID(bits: try result.uuid(row, result.column("event_id"))),
                position: LogPosition(try result.int8(row, result.column("position"))),
                survivor: AccountID(bits: try result.uuid(row, result.column("survivor_id"))),
                absorbed: AccountID(bits: try result.uuid(row, result.column("absorbed_id"))),
                moved: try identities("moved"),
                dropped: try identities("dropped"), replaced: try identities("replaced"))
            guard let merge = expected.removeValue(forKey: stored.id) else {
                return check.add(.merges, nil, "the row of merge \(stored.id) is surplus")
            }
            if merge != stored {
                check.add(
                    .merges, merge.position,
                    "the row of merge \(merge.id) is not what the log says")
            }
        }
        for merge in expected.values.sorted(by: { $0.position < $1.position }) {
            add(.merges, merge.position, "the row of merge \(merge.id) is missing")
        }
    }

    /// Compares `addresses` with the fold.
    mutating func compareAddresses(on connection: Connection) throws(PostgresError) {
        var expected = state.addresses
        let list = "address_id, kind, account_id, position, former_of, kept_until, claimed"
        try eachRow(of: .addresses, list, on: connection) {
            check, result, row throws(PostgresError) in
            let id = AddressID(bits: try result.uuid(row, result.column("address_id")))
            guard let address = expected.removeValue(forKey: id) else {
                return check.add(.addresses, nil, "the row of address \(id) is surplus")
            }
            let kind = try result.text(row, result.column("kind"))
            let account = try result.uuid(row, result.column("account_id"))
            let position = try result.int8(row, result.column("position"))
            let former = try result.optionalUUID(row, result.column("former_of"))
            let keptUntil = try result.optionalTimestamp(row, result.column("kept_until"))
            let isClaimed = try result.bool(row, result.column("claimed"))
            if kind != address.kind.rawValue || account != address.account.bits
                || position != address.position.value || former != address.formerOf?.bits
                || keptUntil != address.keptUntil?.microseconds || isClaimed != address.isClaimed
            {
                check.add(
                    .addresses, address.position,
                    "the row of address \(id) is not what the log says")
            }
        }
        for address in expected.values.sorted(by: { $0.position < $1.position }) {
            add(.addresses, address.position, "the row of address \(address.id) is missing")
        }
    }

    /// Compares `credentials` with the fold.
    mutating func compareCredentials(on connection: Connection) throws(PostgresError) {
        var expected = state.passwords
        try eachRow(of: .credentials, "identity_id, version", on: connection) {
            check, result, row throws(PostgresError) in
            let id = IdentityID(bits: try result.uuid(row, result.column("identity_id")))
            guard let version = expected.removeValue(forKey: id) else {
                return check.add(.credentials, nil, "the password of identity \(id) is surplus")
            }
            if try result.int8(row, result.column("version")) != version.value {
                check.add(
                    .credentials, version, "the password of identity \(id) has another version")
            }
        }
        for (id, version) in expected.sorted(by: { $0.value < $1.value }) {
            add(.credentials, version, "the password of identity \(id) is missing")
        }
    }

    /// Compares the row of `rules` with the fold.
    mutating func compareRules(on connection: Connection) throws(PostgresError) {
        var isMissing = state.rules != nil
        try eachRow(of: .rules, "version, body", on: connection) {
            check, result, row throws(PostgresError) in
            isMissing = false
            let rules = check.state.rules
            let (version, body) = (
                try result.int8(row, result.column("version")),
                try result.text(row, result.column("body"))
            )
            if version != rules?.rulesVersion || !body.isExactly(rules?.body ?? "") {
                check.add(.rules, nil, "the row of the rules is not what the log says")
            }
        }
        if isMissing { add(.rules, nil, "the row of the rules is missing") }
    }

    /// Compares `identities` with the fold, and the subjects with what the log still discloses.
    mutating func compareIdentities(on connection: Connection) throws(PostgresError) {
        var seen: Set<IdentityID> = []
        try eachRow(
            of: .identities,
            """
            identity_id, provider, \(isPersonal ? "provider_id" : "''") AS subject, account_id,
            last_account_id, linked_at, linked_position, unlink_due
            """,
            on: connection
        ) { check, result, row throws(PostgresError) in
            let id = IdentityID(bits: try result.uuid(row, result.column("identity_id")))
            guard let identity = check.state.identities[id],
                !check.state.isForgotten(identity)
            else {
                return check.add(.identities, nil, "the row of identity \(id) is surplus")
            }
            guard seen.insert(id).inserted else {
                return check.add(
                    .identities, identity.linkedPosition, "identity \(id) has two rows")
            }
            let subject = try result.text(row, result.column("subject"))
            let disclosed = check.personal.providerIDs[id]
            if check.isPersonal, disclosed == nil {
                check.add(
                    .identities, identity.linkedPosition,
                    "provider_id of identity \(id) was never disclosed")
            }
            let differing: String? =
                if try result.text(row, result.column("provider")) != identity.provider.description
                {
                    "provider"
                } else if let disclosed, !subject.isExactly(disclosed) {
                    "provider_id"
                } else if try result.optionalUUID(row, result.column("account_id"))
                    != identity.account?.bits
                {
                    "account_id"
                } else if try result.uuid(row, result.column("last_account_id"))
                    != identity.lastAccount.bits
                {
                    "last_account_id"
                } else if try result.timestamp(row, result.column("linked_at"))
                    != identity.linkedAt.microseconds
                {
                    "linked_at"
                } else if try result.int8(row, result.column("linked_position"))
                    != identity.linkedPosition.value
                {
                    "linked_position"
                } else if try result.optionalTimestamp(row, result.column("unlink_due"))
                    != identity.unlinkDue?.microseconds
                {
                    "unlink_due"
                } else {
                    nil
                }
            if let differing {
                check.add(
                    .identities, identity.linkedPosition,
                    "\(differing) of identity \(id) is not what the log says")
            }
        }
        let missing = state.identities.values.filter {
            !seen.contains($0.id) && !state.isForgotten($0)
        }
        for identity in missing.sorted(by: { $0.linkedPosition < $1.linkedPosition }) {
            add(
                .identities, identity.linkedPosition,
                "the row of identity \(identity.id) is missing")
        }
    }

    /// Compares the columns of `sessions` that events determine with the fold.
    mutating func compareSessions(on connection: Connection) throws(PostgresError) {
        var seen: Set<SessionID> = []
        try eachRow(
            of: .sessions,
            """
            session_id, account_id, identity_id, authenticated_at, opened_at, opened_position,
            ended_position, methods
            """, on: connection
        ) { check, result, row throws(PostgresError) in
            let id = SessionID(bits: try result.uuid(row, result.column("session_id")))
            seen.insert(id)
            guard let session = check.state.sessions[id] else {
                return check.add(.sessions, nil, "the row of session \(id) is surplus")
            }
            let differing: String? =
                if try result.uuid(row, result.column("account_id")) != session.account.bits {
                    "account_id"
                } else if try result.uuid(row, result.column("identity_id"))
                    != session.identity.bits
                {
                    "identity_id"
                } else if try result.timestamp(row, result.column("authenticated_at"))
                    != session.authenticatedAt.microseconds
                {
                    "authenticated_at"
                } else if try result.timestamp(row, result.column("opened_at"))
                    != session.openedAt.microseconds
                {
                    "opened_at"
                } else if try result.int8(row, result.column("opened_position"))
                    != session.openedPosition.value
                {
                    "opened_position"
                } else if try result.optionalInt8(row, result.column("ended_position"))
                    != session.endedPosition?.value
                {
                    "ended_position"
                } else if !(try result.text(row, result.column("methods"))).isExactly(
                    session.methods.description)
                {
                    "methods"
                } else {
                    nil
                }
            if let differing {
                check.add(
                    .sessions, session.endedPosition ?? session.openedPosition,
                    "\(differing) of session \(id) is not what the log says")
            }
        }
        let missing = state.sessions.values.filter { !seen.contains($0.id) }
        for session in missing.sorted(by: { $0.openedPosition < $1.openedPosition }) {
            add(.sessions, session.openedPosition, "the row of session \(session.id) is missing")
        }
    }
}
