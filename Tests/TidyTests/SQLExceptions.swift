/// Statements that break a rule for SQL, and why they may.
struct SQLException {
    let rule: SQLRule
    let reason: String
    let names: [String]

    private init(_ rule: SQLRule, _ reason: String, _ names: [String]) {
        (self.rule, self.reason, self.names) = (rule, reason, names)
    }

    static let all = [
        SQLException(
            .scalarTenant,
            """
            a batch of 64 tenants takes 2.0 times the processor time with one statement for each
            tenant: docs/decisions/0001-batch-statements.md
            """,
            [
                "make_heads", "lock_heads", "HeadLoad.listOfMany", "read_clock_and_rules_of",
                "RulesLoad.movedOfMany",
                "load_callers",
                "SubjectLoad.text", "load_accounts",
                "load_merges", "load_identities", "load_idempotency", "load_spent_id_tokens",
                "remember_spent_id_tokens", "insert_events", "move_heads", "insert_accounts",
                "update_accounts", "insert_identities", "update_identities", "insert_sessions",
                "insert_addresses", "insert_names", "store_passwords",
                "refresh_sessions", "end_sessions", "end_sessions_of_openers",
                "insert_disclosures", "insert_account_keys", "remember_answers",
                "erasure_preview_family",
            ]),
        SQLException(
            .plainEquals,
            """
            with =, a table that was never analyzed, or with one row, is read by tenant alone until
            the next ANALYZE: docs/decisions/0001-batch-statements.md
            """,
            [
                "load_callers", "SubjectLoad.text", "load_accounts", "load_merges",
                "load_identities", "end_sessions_of_openers", "erasure_preview_family",
            ]),
        SQLException(
            .scalarTenant,
            """
            with the tenant on both sides, a young table's plan reads the tenant instead of the
            rows found: by EXPLAIN for an empty table, one row and thirty rows
            """, ["UserProvidersTable.*_update_emails", "UserProvidersLoad.*_load_emails"]),
        SQLException(
            .scalarTenant, "looks over all tenants with the text of the query for one tenant",
            ["webhooks_all"]),
        SQLException(
            .scalarTenant,
            "Citus sends the rows to the node of a table's column, which is restricted to the tenant",
            ["count_codes", "add_figures"]),
        SQLException(
            .scalarTenant, "copies one tenant's rows into a temporary table",
            ["RefoldTable.*_copy"]),
        SQLException(
            .scalarTenant, "asks whether a table that is not distributed has any row",
            ["ShardedSchema.sharded_rows_*"]),
        SQLException(
            .scalarTenant, "reads no rows: it only keeps a table from being dropped",
            ["Verifier.keepTables"]),
        SQLException(
            .scalarTenant,
            """
            probes the conflicts of all tenants to save look-ups: without, a page about 500 accounts
            takes 0.69 instead of 0.11 ms, about 32 accounts 0.13 instead of 0.09 ms
            """,
            ["ConflictsTable.*_keyed"]),
        SQLException(
            .scalarTenant,
            """
            answers waiting callers of several tenants at once; 64 of them take 4.0 and 2.7 times
            the processor time tenant by tenant: docs/decisions/0001-batch-statements.md
            """,
            ["api_keys_of", "AccountQuery.read_accounts_*"]),
        SQLException(
            .everyNode, "the address decides nothing: the row's version must match, too",
            ["RowProtection.protect_*"]),
        SQLException(
            .everyNode, "migrations run on one node, one after another",
            ["Migrator.lock", "migrate_who_serves"]),
    ]
}
