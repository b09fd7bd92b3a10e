import Ledger
import LedgerPostgres
import Postgres

extension TenantVerification {
    /// Compares `factors` with the fold.
    mutating func compareFactors(on connection: Connection) throws(PostgresError) {
        var expected = state.factors
        try eachRow(
            of: .factors, "factor_id, account_id, kind, version, counter, removal_due",
            on: connection
        ) { check, result, row throws(PostgresError) in
            let id = FactorID(bits: try result.uuid(row, result.column("factor_id")))
            guard let factor = expected.removeValue(forKey: id) else {
                return check.add(.factors, nil, "the row of factor \(id) is surplus")
            }
            let account = try result.uuid(row, result.column("account_id"))
            let kind = try result.text(row, result.column("kind"))
            let version = try result.int8(row, result.column("version"))
            let counter = try result.int8(row, result.column("counter"))
            let due = try result.optionalTimestamp(row, result.column("removal_due"))
            if account != factor.account.bits || kind != factor.kind.rawValue
                || version != factor.position.value
                || due != factor.removalDue?.microseconds
                || factor.kind == .recoveryCodes && counter != factor.usedCodes
            {
                check.add(
                    .factors, factor.position, "the row of factor \(id) is not what the log says")
            }
        }
        for factor in expected.values.sorted(by: { $0.position < $1.position }) {
            add(.factors, factor.position, "the row of factor \(factor.id) is missing")
        }
    }
}
