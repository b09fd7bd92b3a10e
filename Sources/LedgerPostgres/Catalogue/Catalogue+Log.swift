extension Catalogue {
    /// The log.
    ///
    /// Disclosures and keys are evidence too: only an erasure destroys them, by its functions.
    static let log = [
        CatalogueTable(
            "events", server: .append,
            columns: [
                .text("tenant_id", [.auditor, .sealer]),
                .int8("position", [.auditor, .sealer, .verified]),
                .uuid("event_id", [.auditor, .sealer, .verified]),
                .text("type", [.auditor, .sealer, .verified]),
                .int2("schema_version", [.auditor, .sealer, .verified]),
                .time("recorded_at", [.auditor, .sealer, .verified]),
                .uuid("account_id", [.auditor, .sealer, .nullable, .verified]),
                .int8("account_seq", [.auditor, .sealer, .nullable, .verified]),
                .uuid("command_id", [.auditor, .sealer, .verified]),
                .uuid("request_id", [.auditor, .sealer, .nullable, .verified]),
                .text("actor", [.auditor, .sealer, .verified]),
                .bytes("entry", [.auditor, .sealer, .verified, .mac]),
                .bytes("mac", [.auditor, .sealer, .nullable]),
            ]),
        CatalogueTable(
            "ledger_head", server: .upsert,
            columns: [
                .text("tenant_id", [.auditor, .sealer]),
                .int8("next_position", [.auditor, .sealer, .verified, .mac]),
                .time("last_recorded_at", [.auditor, .sealer, .verified, .mac]),
                .uuid("log_id", [.auditor, .sealer, .nullable, .mac]),
                .int8("log_number", [.auditor, .sealer, .mac]),
                .int8("protected_from", [.auditor, .sealer, .nullable, .mac]),
                .int8("rules_version", [.auditor, .sealer, .nullable, .verified, .mac]),
                .bytes("mac", [.auditor, .sealer, .nullable]),
                .time("devices_ended_at", [.auditor, .nullable]),
            ]),
        CatalogueTable(
            "disclosures", server: .append,
            columns: [
                .text("tenant_id", .auditor), .int8("position", .auditor),
                .uuid("account_id", [.auditor, .account]), .bytes("ciphertext", .personal),
            ]),
        CatalogueTable(
            "account_keys", server: .append,
            columns: [
                .text("tenant_id", .auditor), .uuid("account_id", [.auditor, .account]),
                .text("wrapping_key"), .bytes("wrapped_key", .personal),
            ]),
    ]

    /// The Merkle tree of the log and its signatures.
    static let seals = [
        CatalogueTable(
            "merkle_nodes", server: .append, sealer: [.insert],
            columns: [
                .text("tenant_id", [.auditor, .sealer]), .int8("first_index", [.auditor, .sealer]),
                .bytes("hashes", [.auditor, .sealer]),
            ]),
        CatalogueTable(
            "checkpoints", server: .append, sealer: [.insert],
            columns: [
                .text("tenant_id", [.auditor, .sealer]), .text("origin", [.auditor, .sealer]),
                .int8("size", [.auditor, .sealer]), .bytes("root", [.auditor, .sealer]),
                .text("note", [.auditor, .sealer]), .time("signed_at", [.auditor, .sealer]),
            ]),
        CatalogueTable(
            "checkpoint_keys", server: .append, sealer: [.insert],
            columns: [
                .text("tenant_id", [.auditor, .sealer]), .text("vkey", [.auditor, .sealer]),
                .time("added_at", [.auditor, .sealer]),
            ]),
        CatalogueTable(
            "sealer_leases", server: .all, sealer: [.insert, .update, .delete],
            columns: [
                .text("tenant_id", .sealer), .uuid("holder", .sealer), .time("expires_at", .sealer),
            ]),
    ]
}
