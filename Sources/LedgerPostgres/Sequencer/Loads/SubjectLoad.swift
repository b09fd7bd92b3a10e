import Ledger
import Postgres

/// The identities of the subjects that commands claim, those without an account included, each with the
/// account that holds it.
enum SubjectLoad {
    private static let statement = RowsStatement(
        "load_subjects", ["tenant_id": "text", "provider": "text", "provider_id": "text"],
        ordinal: "n"
    ) { rows in
        """
        SELECT k.n, i.identity_id, i.account_id, i.last_account_id, i.linked_at,
               i.linked_position,
               \(AccountColumns.selected)
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id = k.tenant_id AND provider = k.provider
                AND provider_id = k.provider_id
            OFFSET 0) i
        LEFT JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = i.account_id
            OFFSET 0) a ON true
        \(AccountColumns.joined)
        """
    }

    static func call(_ subjects: BatchKeys.Subjects) -> Call {
        statement.call(
            rows: subjects.subjects.count,
            [
                .texts(subjects.tenants.map { $0.description }),
                .texts(subjects.subjects.map { $0.provider.description }),
                .texts(subjects.subjects.map { $0.providerID }),
            ])
    }

    static func read(
        _ result: QueryResult, of subjects: BatchKeys.Subjects,
        into tenants: [TenantID: TenantBatch]
    ) throws {
        let account = AccountColumns(result, from: 6)
        for row in 0..<result.rowCount {
            let index = try result.keyIndex(row)
            guard let batch = tenants[subjects.tenants[index]] else { continue }
            let subject = subjects.subjects[index]
            let id = IdentityID(bits: try result.uuid(row, 1))
            if batch.state.directory.updateValue(id, forKey: subject) == nil {
                batch.subjects[id] = subject
                batch.state.ledger.load(
                    Identity(
                        id: id, provider: subject.provider,
                        account: try result.optionalUUID(row, 2).map(AccountID.init(bits:)),
                        lastAccount: AccountID(bits: try result.uuid(row, 3)),
                        linkedAt: Timestamp(microseconds: try result.timestamp(row, 4)),
                        linkedPosition: LogPosition(try result.count(row, 5))))
            }
            try account.read(row, into: batch)
        }
    }
}
