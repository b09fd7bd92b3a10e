import JSON
import Ledger
import Postgres

extension TenantVerification {
    /// Compares `names` with the fold, and the external ids with what the log still discloses.
    mutating func compareNames(on connection: Connection) throws(PostgresError) {
        var expected = state.names
        let list =
            "source, \(isPersonal ? "external_id" : "''") AS external_id, account_id, position"
        try eachRow(of: .names, list, on: connection) {
            check, result, row throws(PostgresError) in
            let position = LogPosition(try result.int8(row, result.column("position")))
            guard let name = expected.removeValue(forKey: position) else {
                return check.add(.names, nil, "the external id of position \(position) is surplus")
            }
            let source = try result.text(row, result.column("source"))
            let account = try result.uuid(row, result.column("account_id"))
            let id = try result.text(row, result.column("external_id"))
            let disclosed = check.personal.externalIDs[position]
            if source != name.source.description || account != name.account.bits
                || check.isPersonal && !id.isExactly(disclosed ?? "")
            {
                check.add(.names, position, "the external id is not what the log says")
            }
        }
        for position in expected.keys.sorted() {
            add(.names, position, "the external id is missing")
        }
    }
}
