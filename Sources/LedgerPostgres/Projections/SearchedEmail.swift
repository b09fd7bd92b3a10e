/// The expression by which e-mails of `user_providers` are searched and indexed.
package enum SearchedEmail {
    /// The SQL equivalent of `SearchTerm.comparable(email:)`; V012_search.sql has the same.
    package static let expression = #"lower(btrim(email, E' \t\n\r') COLLATE "C")"#

    /// Returns the statements that create the index of a table of `user_providers`; ANALYZE keeps no samples of it.
    static func index(on table: String) -> [String] {
        [
            "CREATE INDEX \(table)_email ON \(table) (\(expression), tenant_id) WHERE email IS NOT NULL",
            "ALTER INDEX \(table)_email ALTER COLUMN 1 SET STATISTICS 0",
        ]
    }
}
