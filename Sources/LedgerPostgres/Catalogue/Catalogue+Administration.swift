extension Catalogue {
    /// The schema, the progress of projections, principals and their accesses.
    static let administration = [
        CatalogueTable(
            "ledger_migrations", server: [.select],
            columns: [
                .int4("version", [.auditor, .support, .sealer]),
                .text("name", [.auditor, .support, .sealer]),
                .bytes("sha256", [.auditor, .support, .sealer]),
                .time("applied_at", [.auditor, .support, .sealer]),
            ]),
        CatalogueTable(
            "projections", server: .all,
            columns: [
                .text("tenant_id", [.auditor, .support]), .text("name", [.auditor, .support]),
                .int4("version", [.auditor, .support]), .int8("position", [.auditor, .support]),
                .text("failure", [.auditor, .support, .nullable]),
                .time("updated_at", [.auditor, .support]),
                .int4("generation", [.auditor, .support]),
            ]),
        // An erasure ends the lapsed lease of a rebuild.
        CatalogueTable(
            "projection_tables", server: [.select],
            columns: [
                .text("name", .auditor), .int4("generation", .auditor), .int4("version", .auditor),
                .text("state", .auditor), .time("made_at", .auditor),
                .uuid("builder", [.auditor, .nullable, .serverUpdates]),
                .time("builder_until", [.auditor, .nullable, .serverUpdates]),
            ]),
        // Only the owner of the tables says where a tenant is.
        CatalogueTable(
            "tenant_moves", server: [.select],
            columns: [
                .text("tenant_id", [.auditor, .sealer]), .text("state", [.auditor, .sealer]),
                .text("peer", [.auditor, .sealer]), .uuid("run", [.auditor, .sealer]),
                .time("begun_at", [.auditor, .sealer]),
            ]),
        CatalogueTable(
            "api_keys", server: [.select],
            columns: [
                .text("tenant_id"), .uuid("key_id", .mac), .text("label", .mac),
                .text("role", .mac), .bytes("secret_digest", .mac), .time("created_at", .mac),
                .time("expires_at", [.nullable, .mac]), .time("revoked_at", .nullable),
                .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "console_sessions", server: .all,
            columns: [
                .bytes("token_digest"), .uuid("staff_id"), .text("content"), .time("used_at"),
                .time("expires_at"),
            ]),
        CatalogueTable(
            "access_heads", server: .upsert,
            columns: [
                .text("tenant_id", .auditor), .int8("next_position", .auditor),
                .time("last_accessed_at", .auditor),
            ]),
        CatalogueTable(
            "access_log", server: .append,
            columns: [
                .text("tenant_id", .auditor), .int8("position", .auditor),
                .time("accessed_at", .auditor), .text("principal", .auditor),
                .text("role", .auditor), .text("action", .auditor),
                .uuid("account_id", [.auditor, .nullable]),
                .uuid("event_id", [.auditor, .nullable]), .text("details", .auditor),
                .bool("disclosed", .auditor), .text("reason", [.auditor, .nullable]),
                .text("outcome", .auditor), .uuid("request_id", [.auditor, .nullable]),
            ]),
        CatalogueTable(
            "figure_heads", server: .all,
            columns: [
                .text("tenant_id", [.auditor, .support]),
                .int8("next_position", [.auditor, .support]),
            ]),
        CatalogueTable(
            "daily_figures", server: .all,
            columns: [
                .text("tenant_id", [.auditor, .support]), .text("day", [.auditor, .support]),
                .text("type", [.auditor, .support]), .int8("events", [.auditor, .support]),
            ]),
        CatalogueTable(
            "event_traces", server: .all,
            columns: [
                .text("tenant_id"), .int8("position"), .text("traceparent"), .time("recorded_at"),
            ]),
        CatalogueTable(
            "identity_names", server: .all,
            columns: [
                .text("tenant_id", [.auditor, .support]),
                .uuid("identity_id", [.auditor, .support]),
                .uuid("account_id", [.auditor, .support, .account]),
                .text("name", [.support, .personal]),
            ]),
        CatalogueTable(
            "conflict_reviews", server: .all,
            columns: [
                .text("tenant_id", [.auditor, .support]),
                .int8("first_position", [.auditor, .support]),
                .int8("last_position", [.auditor, .support]),
                .uuid("caller_id", [.auditor, .support, .account]),
                .uuid("holder_id", [.auditor, .support, .nullable]),
                .text("note", [.support, .personal]), .text("principal", [.auditor, .support]),
                .time("reviewed_at", [.auditor, .support]),
            ]),
    ]

    /// Webhooks.
    ///
    /// Only the owner of the tables writes addresses: they decide where the log is sent.
    static let webhooks = [
        CatalogueTable(
            "webhook_endpoints", server: [.select],
            columns: [
                .text("tenant_id"), .uuid("endpoint_id"), .text("url"), .texts("types"),
                .int8("revision"), .time("created_at"), .time("disabled_at", .nullable),
            ]),
        CatalogueTable(
            "webhook_secrets", server: [.select],
            columns: [
                .text("tenant_id"), .uuid("endpoint_id"), .uuid("secret_id"),
                .text("wrapping_key"), .bytes("wrapped_secret"), .time("made_at"),
                .time("ends_at", .nullable),
            ]),
        CatalogueTable(
            "webhook_cursors", server: [.select, .update],
            columns: [
                .text("tenant_id"), .uuid("endpoint_id"), .int8("next_position"),
                .uuid("lease", .nullable), .time("expires_at", .nullable),
                .time("gone_at", .nullable),
            ]),
        CatalogueTable(
            "webhook_deliveries", server: .all,
            columns: [
                .text("tenant_id"), .uuid("endpoint_id"), .int8("position"), .uuid("event_id"),
                .text("type"), .uuids("accounts"), .text("state"), .int4("attempts"),
                .time("next_attempt_at"), .time("attempted_at", .nullable),
                .int4("status", .nullable), .text("fault", .nullable),
            ]),
    ]

    /// The outbox.
    ///
    /// Support reads what became of a message, never its content or its recipient.
    static let outbox = [
        CatalogueTable(
            "messages", server: .all,
            columns: [
                .text("tenant_id", .support), .uuid("message_id", .support),
                .uuid("account_id", [.support, .nullable, .account]),
                .text("channel", .support), .text("template", .support),
                .text("language", .support), .text("wrapping_key", [.support, .nullable]),
                .bytes("sealed", [.nullable, .personal]),
                .text("recipient_key", [.support, .nullable]),
                .bytes("recipient_digest", [.nullable, .personal]),
                .time("created_at", .support), .time("expires_at", .support),
                .time("next_attempt_at", .support), .uuid("lease", [.support, .nullable]),
                .int4("attempts", .support), .text("state", .support),
                .time("ended_at", [.support, .nullable]),
                .int4("response_code", [.support, .nullable]),
                .text("fault", [.support, .nullable]),
                .uuid("address_id", [.support, .nullable]),
                .int8("position", [.support, .nullable]),
                .int8("address_position", [.support, .nullable]),
            ])
    ]
}
