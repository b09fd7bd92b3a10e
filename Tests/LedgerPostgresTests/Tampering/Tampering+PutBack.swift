extension Tampering {
    /// Rows as a server once wrote them, each with the code that it had then.
    static let putBack = [
        Tampering(
            "the head is put back as it was, with its code", at: 20,
            sql: putBack("ledger_head", as: "kept_ledger_head", "tenant_id = 'default'")),
        Tampering(
            "an identity's row is put back as it was before an unlink, with its code", at: 4,
            sql: putBack("identities", as: "kept_early_identities", "provider_id = 'ada-g'")),
        Tampering(
            "an ended session's row is put back, with its code", at: 11,
            sql: putBack("sessions", as: "kept_early_sessions", "opened_position = 3")),
        Tampering(
            "a session's row is put back with its code, and so its former refresh token", at: 7,
            sql: putBack("sessions", as: "kept_early_sessions", "opened_position = 7")),
        Tampering(
            "a revoked API key's row is put back, with its code",
            sql: putBack("api_keys", as: "kept_early_api_keys", "label = 'revoked'")),
    ]

    /// Statements that put the row of a table, one tenant's, in the place of what it has become.
    private static func putBack(_ table: String, as kept: String, _ row: String) -> String {
        """
        DELETE FROM \(table) WHERE \(row) AND tenant_id = 'default';
        INSERT INTO \(table) SELECT * FROM \(kept) WHERE \(row) AND tenant_id = 'default'
        """
    }
}
