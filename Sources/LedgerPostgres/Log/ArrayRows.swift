/// The SQL of rows that are given as arrays, one per column.
package enum ArrayRows {
    /// Returns a subquery for a FROM clause, where it needs an alias.
    ///
    /// Functions in a FROM clause write each column to a temporary table before they return the
    /// first row. In a SELECT list they run side by side, and each row is made on demand.
    ///
    /// - Parameters:
    ///   - columns: The columns' names and SQL types.
    ///   - first: The number of the first column's parameter; the others follow.
    ///   - ordinal: The name of a last column that numbers the rows from 1; nil for none.
    /// - Returns: The subquery; a column with fewer values than others has nulls for the rest.
    package static func sql(
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
