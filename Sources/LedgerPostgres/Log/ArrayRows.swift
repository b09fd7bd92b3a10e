/// The SQL of rows that are given as arrays, one a column.
enum ArrayRows {
    /// A subquery for a FROM clause, to be called by a name there.
    ///
    /// Functions in a FROM clause put each column into a table of its own before they give the first row.
    /// In a SELECT list they go side by side, and a row is made when it is asked for.
    ///
    /// - Parameters:
    ///   - columns: the columns' names and SQL types.
    ///   - first: the number of the first column's parameter; the others follow.
    ///   - ordinal: the name of a last column that counts the rows from 1; nil for none.
    /// - Returns: the subquery; a column with fewer values than others has nulls for the rest.
    static func sql(
        _ columns: KeyValuePairs<String, String>, from first: Int = 1, ordinal: String? = nil
    ) -> String {
        let arrays = columns.enumerated().map {
            (name: $0.element.key, sql: "$\(first + $0.offset)::\($0.element.value)[]")
        }
        var selected = arrays.map { "unnest(\($0.sql)) AS \($0.name)" }
        if let ordinal, let array = arrays.first {
            selected.append("generate_series(1::bigint, cardinality(\(array.sql))) AS \(ordinal)")
        }
        return "(SELECT \(selected.joined(separator: ", ")))"
    }
}
