package import Ledger
import LedgerEngine
package import Postgres

/// The identities that commands name with their last accounts; loaded with their subjects.
package enum IdentityLoad {
    /// The columns of an identity in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let id, provider, providerID, account, lastAccount, linkedAt, linkedPosition: Int
        private let unlinkDue: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ i: String) -> SelectList {
            [
                "\(i).identity_id", "\(i).provider", "\(i).provider_id", "\(i).account_id",
                "\(i).last_account_id", "\(i).linked_at", "\(i).linked_position",
                "\(i).unlink_due",
            ]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ i: String, in list: SelectList) {
            id = list["\(i).identity_id"]
            provider = list["\(i).provider"]
            providerID = list["\(i).provider_id"]
            account = list["\(i).account_id"]
            lastAccount = list["\(i).last_account_id"]
            linkedAt = list["\(i).linked_at"]
            linkedPosition = list["\(i).linked_position"]
            unlinkDue = list["\(i).unlink_due"]
        }

        /// Reads the id, or nil in a row without an identity.
        func optionalID(_ result: QueryResult, _ row: Int) throws(PostgresError) -> IdentityID? {
            try result.optionalUUID(row, id).map(IdentityID.init(bits:))
        }

        /// Reads the id.
        func id(_ result: QueryResult, _ row: Int) throws(PostgresError) -> IdentityID {
            IdentityID(bits: try result.uuid(row, id))
        }

        /// Reads the identity.
        package func read(_ result: QueryResult, _ row: Int) throws -> (Identity, Subject) {
            let provider = try result.provider(row, provider)
            let identity = Identity(
                id: try id(result, row), provider: provider,
                account: try result.optionalUUID(row, account).map(AccountID.init(bits:)),
                lastAccount: AccountID(bits: try result.uuid(row, lastAccount)),
                linkedAt: Timestamp(microseconds: try result.timestamp(row, linkedAt)),
                linkedPosition: LogPosition(try result.count(row, linkedPosition)),
                unlinkDue: try result.optionalTimestamp(row, unlinkDue)
                    .map { Timestamp(microseconds: $0) })
            return (identity, try result.subject(row, providerID, at: provider))
        }
    }

    private static let list: SelectList = ["k.tenant_id"] + Columns.selected("i") + ["i.mac"]
    private static let columns = Columns("i", in: list)
    private static let tenant = list["k.tenant_id"]
    private static let mac = list["i.mac"]

    private static let statement = Statement(
        "load_identities",
        """
        SELECT \(list.sql)
        FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS k (tenant_id, account_id, identity_id)
        CROSS JOIN LATERAL (
            SELECT * FROM identities
            WHERE last_account_id = k.account_id AND tenant_id IS NOT DISTINCT FROM k.tenant_id
                AND identity_id = k.identity_id
            OFFSET 0) i
        """)

    static func call(_ identities: BatchKeys.Identities) -> Call {
        Call(
            statement,
            [
                .texts(identities.tenants.map { $0.description }), .uuids(identities.accounts),
                .uuids(identities.ids),
            ])
    }

    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = try tenants[result.tenant(row, tenant)] else { continue }
            let (identity, subject) = try columns.read(result, row)
            try batch.check(
                try result.optionalBytes(row, mac),
                of: .identity(identity, named: subject, of: batch.tenant), in: .identities)
            batch.subjects[identity.id] = subject
            batch.state.directory[subject] = identity.id
            guard batch.state.ledger.identities[identity.id] == nil else { continue }
            batch.state.ledger.load(identity)
        }
    }
}
