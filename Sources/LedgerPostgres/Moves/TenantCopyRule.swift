/// The treatment of the tables of the catalogue when a tenant is copied to another database.
enum TenantCopyRule: Hashable {
    /// Rows are only added, in the order of a column, within each value of another one if there is one: they are
    /// copied while the tenant is served. No login may change or delete them afterwards.
    case appended(by: String, within: String? = nil)
    /// As ``appended(by:within:)``, but erasures change or delete rows: a table that differs at the end is copied anew.
    case erasable(by: String)
    /// Copied once the tenant has stopped.
    case whole
    /// The progress of the read models, with the generation of the table there.
    case progress
    /// Not copied, for a reason.
    case left(String)

    /// Every table of the catalogue; a new one needs a decision.
    static let all: [String: TenantCopyRule] = [
        "events": .appended(by: "position"),
        "access_log": .appended(by: "position"),
        "merkle_nodes": .appended(by: "first_index"),
        "checkpoints": .appended(by: "size", within: "origin"),
        "checkpoint_keys": .appended(by: "added_at", within: "vkey"),
        "disclosures": .erasable(by: "position"),
        "account_audit": .erasable(by: "position"),

        "account_keys": .whole, "accounts": .whole, "identities": .whole, "sessions": .whole,
        "merges": .whole, "addresses": .whole, "names": .whole, "credentials": .whole,
        "factors": .whole, "erasure_requests": .whole, "rules": .whole, "erasures": .whole,
        "ledger_head": .whole, "access_heads": .whole,
        // Budgets, spent tokens and answers of idempotency keys: without them, a request could act again.
        "idempotency_records": .whole, "spent_id_tokens": .whole, "challenges": .whole,
        "code_counts": .whole,
        "user_providers": .whole, "conflicts": .whole,
        "figure_heads": .whole, "daily_figures": .whole, "event_traces": .whole,
        "identity_names": .whole, "conflict_reviews": .whole, "api_keys": .whole,
        "webhook_endpoints": .whole, "webhook_secrets": .whole, "webhook_cursors": .whole,
        "webhook_deliveries": .whole, "messages": .whole,

        "projections": .progress,

        "sealer_leases": .left("a lease of a process that serves this database"),
        "former_email_leases": .left("a lease of a process that serves this database"),
        "tenant_moves": .left("says where the tenant is"),
        "ledger_migrations": .left("belongs to no tenant"),
        "projection_tables": .left("belongs to no tenant"),
        "console_sessions": .left("belongs to no tenant: staff sign in again"),
    ]

    /// Whether `tenant discard` deletes the rows of a table.
    ///
    /// The rows that stay have no personal data: the log with its hashes and signatures, the access log, and those by
    /// which a server recognises the tenant.
    static func isDiscarded(_ table: String) -> Bool {
        guard let rule = all[table] else { return false }
        return switch rule {
        case .appended: false
        case .erasable, .whole, .progress:
            !["ledger_head", "access_heads", "rules"].contains(table)
        case .left: ["sealer_leases", "former_email_leases"].contains(table)
        }
    }

    /// Whether no row is changed or deleted.
    var isAppended: Bool {
        if case .appended = self { true } else { false }
    }

    /// Whether rows are copied while the tenant is served.
    var isAhead: Bool {
        switch self {
        case .appended, .erasable: true
        case .whole, .progress, .left: false
        }
    }
}
