internal import LedgerEngine

extension Catalogue {
    /// The views, and in the same columns the tables that projectors fill.
    static let readModels = [userProviders, accountAudit, conflicts]

    static let userProviders = CatalogueTable(
        "user_providers", isReadModel: true, server: .all,
        columns: [
            .text("tenant_id", [.auditor, .support]),
            .uuid("user_id", [.auditor, .support, .account, .verified]),
            .text("provider", [.auditor, .support, .verified]),
            .text("provider_id", [.support, .nullable, .personal, .verified]),
            .text("email", [.support, .nullable, .personal, .verified]),
            .uuid("identity_id", [.auditor, .support, .verified]),
            .time("linked_at", [.auditor, .support, .verified]),
            .int8("linked_position", [.auditor, .support, .verified]),
            .bool("email_verified", [.support, .nullable, .personal, .verified]),
        ])

    static let accountAudit = CatalogueTable(
        "account_audit", isReadModel: true, server: .all,
        columns: [
            .text("tenant_id", [.auditor, .support]),
            .uuid("account_id", [.auditor, .support, .account, .verified]),
            .int8("account_seq", [.auditor, .support, .verified]),
            .int8("position", [.auditor, .support, .verified]),
            .uuid("event_id", [.auditor, .support, .verified]),
            .time("recorded_at", [.auditor, .support, .verified]),
            .text("type", [.auditor, .support, .verified]),
            .text("outcome", [.auditor, .support, .verified]),
            .text("reason", [.auditor, .support, .nullable, .verified]),
            .text("actor", [.auditor, .support, .verified]),
            .text("provider", [.auditor, .support, .nullable, .verified]),
            .uuid("identity_id", [.auditor, .support, .nullable, .verified]),
            .uuid("session_id", [.auditor, .support, .nullable, .verified]),
            .uuid("request_id", [.auditor, .support, .nullable, .verified]),
            .text("client_ip", [.support, .nullable, .personal, .verified]),
            .texts("providers_before", [.auditor, .support, .verified]),
            .texts("providers_after", [.auditor, .support, .verified]),
        ])

    static let conflicts = CatalogueTable(
        "conflicts", isReadModel: true, server: .all,
        columns: [
            .text("tenant_id", [.auditor, .support]),
            .int8("first_position", [.auditor, .support, .verified]),
            .uuid("first_event", [.auditor, .support, .verified]),
            .time("first_at", [.auditor, .support, .verified]),
            .int8("last_position", [.auditor, .support, .verified]),
            .uuid("last_event", [.auditor, .support, .verified]),
            .time("last_at", [.auditor, .support, .verified]),
            .int8("attempts", [.auditor, .support, .verified]),
            .text("reason", [.auditor, .support, .verified]),
            .text("provider", [.auditor, .support, .verified]),
            .uuid("identity_id", [.auditor, .support, .nullable, .verified]),
            .uuid("caller_id", [.auditor, .support, .account, .verified]),
            .uuid("caller_now", [.auditor, .support, .verified]),
            .texts("callers", [.auditor, .support, .verified]),
            .uuid("holder_id", [.auditor, .support, .nullable, .verified]),
            .uuid("holder_now", [.auditor, .support, .nullable, .verified]),
            .int8("resolved_position", [.auditor, .support, .nullable, .verified]),
            .uuid("resolved_event", [.auditor, .support, .nullable, .verified]),
            .time("resolved_at", [.auditor, .support, .nullable, .verified]),
            .text("resolved_type", [.auditor, .support, .nullable, .verified]),
            .text("resolved_actor", [.auditor, .support, .nullable, .verified]),
        ])
}

extension ProjectionName {
    /// The columns of the view and of its tables.
    var table: CatalogueTable {
        switch self {
        case .userProviders: Catalogue.userProviders
        case .accountAudit: Catalogue.accountAudit
        case .conflicts: Catalogue.conflicts
        }
    }
}
