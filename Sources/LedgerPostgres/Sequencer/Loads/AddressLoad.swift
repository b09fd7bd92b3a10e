package import Ledger
import LedgerEngine
package import Postgres

/// The addresses that commands prove, if an account has them.
package enum AddressLoad {
    /// The columns of an address in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let id, kind, digest, key, account, position, formerOf, keptUntil, claimed: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ d: String) -> SelectList {
            [
                "\(d).address_id", "\(d).kind", "\(d).digest", "\(d).key_id", "\(d).account_id",
                "\(d).position", "\(d).former_of", "\(d).kept_until", "\(d).claimed",
            ]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ d: String, in list: SelectList) {
            id = list["\(d).address_id"]
            kind = list["\(d).kind"]
            digest = list["\(d).digest"]
            key = list["\(d).key_id"]
            account = list["\(d).account_id"]
            position = list["\(d).position"]
            formerOf = list["\(d).former_of"]
            keptUntil = list["\(d).kept_until"]
            claimed = list["\(d).claimed"]
        }

        /// Reads the address and its name.
        package func read(
            _ result: QueryResult, _ row: Int
        ) throws -> (address: HeldAddress, name: AddressName) {
            guard let kind = AddressKind(rawValue: try result.text(row, kind)) else {
                throw BatchFault.damaged("addresses.kind")
            }
            let address = HeldAddress(
                id: AddressID(bits: try result.uuid(row, id)), kind: kind,
                account: AccountID(bits: try result.uuid(row, account)),
                position: LogPosition(try result.count(row, position)),
                formerOf: try result.optionalUUID(row, formerOf).map { AddressID(bits: $0) },
                keptUntil: try result.optionalTimestamp(row, keptUntil)
                    .map { Timestamp(microseconds: $0) },
                isClaimed: try result.bool(row, claimed))
            let name = AddressName(
                kind: kind, digest: try result.digest(row, digest),
                key: try result.text(row, key))
            return (address, name)
        }

        /// Whether the row has an address.
        package func isPresent(_ result: QueryResult, _ row: Int) throws -> Bool {
            try !result.isNull(row, id)
        }
    }

    private static let list =
        Columns.selected("d") + ["d.mac"] + Columns.selected("n") + ["n.mac"]
        + IdentityLoad.Columns.selected("i")
        + [
            "i.mac", "s.count", "s.earliest",
            "greatest(e.used_at, o.opened_at, u.used_at) AS used_at",
        ]
    private static let columns = Columns("d", in: list)
    private static let mac = list["d.mac"]
    private static let successor = Columns("n", in: list)
    private static let successorMAC = list["n.mac"]
    private static let identity = IdentityLoad.Columns("i", in: list)
    private static let identityMAC = list["i.mac"]
    private static let count = list["s.count"]
    private static let earliest = list["s.earliest"]
    private static let usedAt = list["used_at"]

    /// With each address, the one that replaced it, and the provider's identity that has this or that as its subject,
    /// linked or not.
    ///
    /// With a phone number also its last use: a tenant has one provider of type `phone`, so no other identity uses it.
    /// Refreshes are read only where no session was opened in the shortest time after which a rule asks for them.
    private static let statement = Statement(
        "load_addresses",
        """
        SELECT \(list.sql)
        FROM unnest($2::bytea[], $3::text[]) AS k (digest, provider)
        CROSS JOIN LATERAL (
            SELECT * FROM addresses WHERE tenant_id = $1 AND digest = k.digest
            OFFSET 0) d
        LEFT JOIN LATERAL (
            SELECT * FROM addresses WHERE tenant_id = $1 AND address_id = d.former_of
            OFFSET 0) n ON true
        LEFT JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id = $1 AND provider = k.provider
                AND provider_id = coalesce(d.former_of, d.address_id)::text
            OFFSET 0) i ON true
        LEFT JOIN LATERAL (
            SELECT count(*), min(opened_at) AS earliest FROM sessions
            WHERE tenant_id = $1 AND identity_id = i.identity_id
                AND opened_at >= i.linked_at AND opened_position > i.linked_position
                AND opened_at > statement_timestamp() - make_interval(secs => $4::bigint)) s ON true
        LEFT JOIN LATERAL (
            SELECT greatest(recorded_at, i.linked_at) AS used_at FROM events
            WHERE tenant_id = $1 AND position = d.position AND d.kind = 'phone'
            OFFSET 0) e ON true
        LEFT JOIN LATERAL (
            SELECT opened_at FROM sessions
            WHERE tenant_id = $1 AND identity_id = i.identity_id AND d.kind = 'phone'
            ORDER BY opened_at DESC LIMIT 1) o ON true
        LEFT JOIN LATERAL (
            SELECT max(refresh_exchanged_at) AS used_at FROM sessions
            WHERE tenant_id = $1 AND identity_id = i.identity_id
                AND o.opened_at < statement_timestamp() - interval '30 days') u ON true
        """)

    /// The accounts that have claimed addresses, and those into which they were merged, as a common table expression
    /// `holder` of a recursive statement.
    static let claimHolders = """
        holder AS (
            SELECT d.account_id
            FROM unnest($2::bytea[]) AS k (digest)
            CROSS JOIN LATERAL (
                SELECT account_id FROM addresses
                WHERE tenant_id = $1 AND digest = k.digest AND claimed
                OFFSET 0) d
            UNION
            SELECT a.merged_into
            FROM holder h
            CROSS JOIN LATERAL (
                SELECT merged_into FROM accounts
                WHERE tenant_id = $1 AND account_id = h.account_id AND merged_into IS NOT NULL
                OFFSET 0) a
        )
        """

    private static let othersList = Columns.selected("d") + ["d.mac"]
    private static let otherColumns = Columns("d", in: othersList)
    private static let otherMAC = othersList["d.mac"]

    /// All addresses of the accounts that have claimed some, and of those merged with them: they end with the claim.
    private static let others = Statement(
        "load_addresses_of_claims",
        """
        WITH RECURSIVE \(claimHolders), family AS (
            SELECT account_id FROM holder
            UNION
            SELECT a.account_id
            FROM family f
            CROSS JOIN LATERAL (
                SELECT account_id FROM accounts
                WHERE tenant_id = $1 AND merged_into = f.account_id
                OFFSET 0) a
        )
        SELECT \(othersList.sql)
        FROM family k
        CROSS JOIN LATERAL (
            SELECT * FROM addresses WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) d
        """)

    static func call(claimsOf names: [BatchKeys.ProvedName], of tenant: TenantID) -> Call {
        Call(
            others, [.text(tenant.description), .byteArrays(names.map(\.name.digest.bytes))])
    }

    static func read(others result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            try load(
                try otherColumns.read(result, row),
                mac: try result.optionalBytes(row, otherMAC), into: batch)
        }
    }

    static func call(
        _ names: [BatchKeys.ProvedName], of tenant: TenantID, windowSeconds: Int64
    ) -> Call {
        Call(
            statement,
            [
                .text(tenant.description), .byteArrays(names.map(\.name.digest.bytes)),
                .texts(names.map(\.provider.description)), .int8(windowSeconds),
            ])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            let held = try columns.read(result, row)
            try load(held, mac: try result.optionalBytes(row, mac), into: batch)
            if try successor.isPresent(result, row) {
                try load(
                    try successor.read(result, row),
                    mac: try result.optionalBytes(row, successorMAC), into: batch)
            }
            try readIdentity(result, row, into: batch)
        }
    }

    private static func load(
        _ row: (address: HeldAddress, name: AddressName), mac: [UInt8]?, into batch: TenantBatch
    ) throws {
        guard batch.state.addressNames.updateValue(row.address.id, forKey: row.name) == nil else {
            return
        }
        try batch.check(
            mac, of: .address(row.address, named: row.name, of: batch.tenant), in: .addresses)
        batch.state.ledger.load(row.address)
        batch.loadedAddresses.insert(row.address.id)
    }

    private static func readIdentity(
        _ result: QueryResult, _ row: Int, into batch: TenantBatch
    ) throws {
        guard try identity.optionalID(result, row) != nil else { return }
        let (loaded, subject) = try identity.read(result, row)
        if batch.state.directory.updateValue(loaded.id, forKey: subject) == nil {
            batch.loadedRows.append(
                LoadedRow(
                    content: .identity(loaded, named: subject),
                    stored: try result.optionalBytes(row, identityMAC)))
            batch.subjects[loaded.id] = subject
            batch.state.ledger.load(loaded)
        }
        if let time = try result.optionalTimestamp(row, usedAt) {
            batch.state.noteUse(of: loaded.id, at: Timestamp(microseconds: time))
        }
        if let count = try result.optionalInt8(row, count), count > 0 {
            batch.state.signIns[loaded.id] = DecisionState.SignInCount(
                count: Int(count),
                earliest: Timestamp(microseconds: try result.timestamp(row, earliest)))
        }
    }
}
