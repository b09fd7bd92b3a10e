package import LedgerEngine

extension ProjectionName {
    /// The column that holds the account of a row.
    var accountColumn: String {
        guard let column = table.columns(.account).first else {
            preconditionFailure("every read model is about accounts")
        }
        return column
    }

    /// The columns that hold personal data; they are null in rows of an erased account.
    var personalColumns: [String] { table.columns(.personal) }

    /// The indexes of a table beside its primary key: name suffix, columns in order, and the condition on
    /// rows, nil for all.
    package var indexes: [(name: String, columns: String, rows: String?)] {
        switch self {
        case .userProviders, .accountAudit: []
        case .conflicts: ConflictsTable.indexes
        }
    }

    /// Returns the statement that keeps ANALYZE from storing values of the personal columns in its
    /// statistics.
    func withoutStatistics(in table: String) -> String {
        guard !personalColumns.isEmpty else { return "" }
        return "ALTER TABLE \(table) "
            + personalColumns.map { "ALTER \($0) SET STATISTICS 0" }.joined(separator: ", ")
    }
}
