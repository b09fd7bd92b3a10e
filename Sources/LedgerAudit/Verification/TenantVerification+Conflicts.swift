import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

extension TenantVerification {
    /// Compares the tables of `conflicts` whose checkpoint the fold has reached.
    mutating func compareConflicts(
        atEnd: Bool = false, on connection: Connection
    ) throws(PostgresError) {
        for table in tables(of: .conflicts) where !compared.contains(table) {
            guard atEnd || state.nextPosition == checkpoints[table] else { continue }
            compared.insert(table)
            try compareConflicts(in: table, on: connection)
        }
    }

    /// Compares a table with the conflicts of the log at the table's checkpoint.
    private mutating func compareConflicts(
        in table: ProjectionTable, on connection: Connection
    ) throws(PostgresError) {
        guard foldFault == nil, let conflicts else { return }
        var expected: [LogPosition: Conflict] = [:]
        if state.nextPosition <= checkpoints[table] ?? LogPosition(0) {
            for conflict in conflicts.conflicts { expected[conflict.first.position] = conflict }
        }
        try eachRow(
            of: .conflicts, in: table.description, ConflictsTable.columns, on: connection
        ) { check, result, row throws(PostgresError) in
            let position = LogPosition(try result.int8(row, 0))
            guard let conflict = expected.removeValue(forKey: position) else {
                return check.add(.conflicts, position, "the row that begins here is surplus")
            }
            if try ConflictsTable.read(result, row) != conflict {
                check.add(
                    .conflicts, position,
                    "the row of account \(conflict.caller) is not what the log says")
            }
        }
        for position in expected.keys.sorted() {
            add(.conflicts, position, "the row that begins here is missing")
        }
    }
}
