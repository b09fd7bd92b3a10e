extension Catalogue {
    /// The state that commands are decided by.
    static let decisionState = [
        CatalogueTable(
            "accounts", server: .upsert,
            columns: [
                .text("tenant_id", .auditor),
                .uuid("account_id", [.auditor, .account, .verified]),
                .int8("opened_position", [.auditor, .verified]),
                .int8("next_seq", [.auditor, .verified]),
                .bytes("last_leaf", [.auditor, .verified]),
                .int8("last_position", [.auditor, .verified]),
                .bytes("attempts", [.nullable, .personal]),
                .uuids("legal_holds", [.auditor, .nullable, .verified]),
                .uuid("merged_into", [.auditor, .nullable, .verified]),
                .int8("disabled_position", [.auditor, .nullable, .verified]),
                .uuids("second_factors", [.auditor, .nullable, .verified]),
                .int8("handed_over_position", [.auditor, .nullable, .verified]),
                .time("devices_ended_at", [.auditor, .nullable]),
            ]),
        CatalogueTable(
            "identities", server: .upsert,
            columns: [
                .text("tenant_id", .auditor),
                .text("provider", [.auditor, .verified, .mac]),
                .text("provider_id", [.personal, .verified, .mac]),
                .uuid("identity_id", [.auditor, .verified, .mac]),
                .uuid("account_id", [.auditor, .nullable, .verified, .mac]),
                .uuid("last_account_id", [.auditor, .account, .verified, .mac]),
                .time("linked_at", [.auditor, .verified, .mac]),
                .int8("linked_position", [.auditor, .verified, .mac]),
                .bytes("former_email", [.nullable, .personal]),
                .bytes("mac", .nullable),
                .time("unlink_due", [.auditor, .nullable, .verified, .mac]),
            ]),
        CatalogueTable(
            "sessions", server: .upsert,
            columns: [
                .text("tenant_id", .auditor),
                .uuid("session_id", [.auditor, .verified, .mac]),
                .uuid("account_id", [.auditor, .verified, .mac]),
                .uuid("identity_id", [.auditor, .verified, .mac]),
                .time("authenticated_at", [.auditor, .verified, .mac]),
                .time("opened_at", [.auditor, .verified, .mac]),
                .int8("opened_position", [.auditor, .verified, .mac]),
                .int8("ended_position", [.auditor, .nullable, .verified]),
                .bytes("refresh_current", .mac),
                .bytes("refresh_preceding", [.nullable, .mac]),
                .bytes("refresh_sealed_successor", [.nullable, .mac]),
                .time("refresh_exchanged_at", [.nullable, .mac]),
                .int4("refresh_generation", .mac),
                .time("expires_at", .mac),
                .text("methods", [.auditor, .verified, .mac]),
                .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "merges", server: .all,
            columns: [
                .text("tenant_id", .auditor),
                .uuid("event_id", [.auditor, .verified, .mac]),
                .int8("position", [.auditor, .verified, .mac]),
                .uuid("survivor_id", [.auditor, .verified, .mac]),
                .uuid("absorbed_id", [.auditor, .verified, .mac]),
                .uuids("moved", [.auditor, .verified, .mac]),
                .uuids("dropped", [.auditor, .verified, .mac]),
                .uuids("replaced", [.auditor, .verified, .mac]),
                .bytes("mac", [.auditor, .nullable]),
            ]),
        CatalogueTable(
            "addresses", server: [.select, .insert, .delete],
            columns: [
                .text("tenant_id", .auditor),
                .uuid("address_id", [.auditor, .verified, .mac]),
                .text("kind", [.auditor, .verified, .mac]),
                .bytes("digest", [.personal, .mac]),
                .text("key_id", .mac),
                .uuid("account_id", [.auditor, .account, .verified, .mac]),
                .int8("position", [.auditor, .verified, .mac]),
                .uuid("former_of", [.auditor, .nullable, .verified, .mac]),
                .time("kept_until", [.auditor, .nullable, .verified, .mac]),
                .bool("claimed", [.auditor, .verified, .mac]),
                .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "names", server: [.select, .insert],
            columns: [
                .text("tenant_id", .auditor),
                .text("source", [.auditor, .verified, .mac]),
                .text("external_id", [.personal, .verified, .mac]),
                .uuid("account_id", [.auditor, .account, .verified, .mac]),
                .int8("position", [.auditor, .verified, .mac]),
                .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "credentials", server: .all,
            columns: [
                .text("tenant_id", .auditor),
                .uuid("identity_id", [.auditor, .verified, .mac]),
                .uuid("account_id", [.auditor, .account]),
                .int8("version", [.auditor, .verified, .mac]),
                .bytes("sealed", [.personal, .mac]),
                .text("wrapping_key", .mac),
                .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "factors", server: .all,
            columns: [
                .text("tenant_id", .auditor),
                .uuid("factor_id", [.auditor, .verified, .mac]),
                .uuid("account_id", [.auditor, .account, .verified, .mac]),
                .text("kind", [.auditor, .verified, .mac]),
                .int8("version", [.auditor, .verified, .mac]),
                .bytes("sealed", [.personal, .mac]),
                .text("wrapping_key", .mac),
                .int8("counter", [.auditor, .mac]),
                .time("removal_due", [.auditor, .nullable, .verified, .mac]),
                .bytes("mac", .nullable),
                .text("credential", [.nullable, .personal, .mac]),
                .text("domain", [.nullable, .mac]),
            ]),
        CatalogueTable(
            "erasure_requests", server: .all,
            columns: [
                .text("tenant_id", .auditor), .uuid("account_id", [.auditor, .account, .mac]),
                .uuid("request_id", [.auditor, .mac]), .text("principal", [.auditor, .mac]),
                .bytes("plan", [.auditor, .mac]), .text("basis", [.auditor, .mac]),
                .text("reason", [.personal, .mac]), .time("asked_at", [.auditor, .mac]),
                .time("expires_at", [.auditor, .mac]), .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "rules", server: .upsert,
            columns: [
                .text("tenant_id", .auditor), .int8("version", [.auditor, .verified]),
                .text("body", [.auditor, .verified, .mac]), .bytes("mac", .nullable),
            ]),
        CatalogueTable(
            "erasures", server: [.select],
            columns: [
                .text("tenant_id", .auditor),
                .uuid("account_id", [.auditor, .verified]),
                .int8("opened_position", [.auditor, .verified]),
                .int8("next_seq", [.auditor, .verified]),
                .bytes("last_leaf", [.auditor, .verified]),
                .int8("position", [.auditor, .verified]),
                .time("erased_at", [.auditor, .verified]),
                .int8("destroyed_seq", [.auditor, .serverUpdates]),
                .int8("searched_position", [.auditor, .serverUpdates]),
                .time("destroyed_at", [.auditor, .nullable, .serverUpdates]),
            ]),
    ]

    /// The records of commands without an event behind them.
    static let records = [
        CatalogueTable(
            "idempotency_records", server: .all,
            columns: [
                .text("tenant_id"), .uuid("account_id", .account), .bytes("scope", .personal),
                .bytes("fingerprint", .personal), .text("answer", .personal), .time("answered_at"),
                .text("key_id", .nullable),
            ]),
        CatalogueTable(
            "spent_id_tokens", server: [.select, .insert, .delete],
            columns: [
                .text("tenant_id"), .bytes("digest"), .time("first_used_at"), .time("expires_at"),
            ]),
        CatalogueTable(
            "challenges", server: .all,
            columns: [
                .text("tenant_id"), .uuid("challenge_id"), .text("provider"),
                .uuid("session_id", .nullable), .bytes("plan", .nullable), .bytes("digest"),
                .bytes("code_digest"), .text("key_id"), .bytes("sealed"), .text("wrapping_key"),
                .time("expires_at"), .int4("tries"),
            ]),
        CatalogueTable(
            "code_counts", server: .all,
            columns: [
                .text("tenant_id"), .bytes("scope"), .int4("count"), .time("ends_at"),
            ]),
        CatalogueTable(
            "former_email_leases", server: .all,
            columns: [.text("tenant_id"), .uuid("holder"), .time("expires_at")]),
    ]
}
