/// The SQL scripts embedded in the binary, which always carries the schema that it was written for.
package enum MigrationScripts {
    /// The migrations in the order of their versions, from 1, without a gap.
    ///
    /// The file name of version 7 begins with `V007_`; a released file is never edited.
    package static let ordered: [(file: String, sql: [UInt8])] = [
        ("V001_ledger.sql", PackageResources.V001_ledger_sql),
        ("V002_attempts_in_accounts.sql", PackageResources.V002_attempts_in_accounts_sql),
        ("V003_projection_tables.sql", PackageResources.V003_projection_tables_sql),
        ("V004_merkle_log.sql", PackageResources.V004_merkle_log_sql),
        ("V005_principals.sql", PackageResources.V005_principals_sql),
        ("V006_erasure.sql", PackageResources.V006_erasure_sql),
        ("V007_guards_and_keys.sql", PackageResources.V007_guards_and_keys_sql),
        ("V008_destruction.sql", PackageResources.V008_destruction_sql),
        ("V009_merges.sql", PackageResources.V009_merges_sql),
        ("V010_webhooks.sql", PackageResources.V010_webhooks_sql),
        ("V011_conflicts.sql", PackageResources.V011_conflicts_sql),
        ("V012_search.sql", PackageResources.V012_search_sql),
        ("V013_email_verified.sql", PackageResources.V013_email_verified_sql),
        ("V014_event_versions.sql", PackageResources.V014_event_versions_sql),
        ("V015_macs.sql", PackageResources.V015_macs_sql),
        ("V016_spent_id_tokens.sql", PackageResources.V016_spent_id_tokens_sql),
        ("V017_erasure_versions.sql", PackageResources.V017_erasure_versions_sql),
        ("V018_rebuild_leases.sql", PackageResources.V018_rebuild_leases_sql),
        ("V019_former_email_leases.sql", PackageResources.V019_former_email_leases_sql),
        ("V020_keyed_digests.sql", PackageResources.V020_keyed_digests_sql),
        ("V021_rules.sql", PackageResources.V021_rules_sql),
        ("V022_erase_by_tenant.sql", PackageResources.V022_erase_by_tenant_sql),
        ("V023_anonymous.sql", PackageResources.V023_anonymous_sql),
        ("V024_messages.sql", PackageResources.V024_messages_sql),
        ("V025_addresses.sql", PackageResources.V025_addresses_sql),
        ("V026_credentials.sql", PackageResources.V026_credentials_sql),
        ("V027_notices.sql", PackageResources.V027_notices_sql),
        ("V028_index_order.sql", PackageResources.V028_index_order_sql),
        ("V029_disabled_accounts.sql", PackageResources.V029_disabled_accounts_sql),
        ("V030_factors.sql", PackageResources.V030_factors_sql),
        ("V031_planned_unlinks.sql", PackageResources.V031_planned_unlinks_sql),
        ("V032_former_addresses.sql", PackageResources.V032_former_addresses_sql),
        ("V033_console_sessions.sql", PackageResources.V033_console_sessions_sql),
        ("V034_conflict_reviews.sql", PackageResources.V034_conflict_reviews_sql),
        ("V035_daily_figures.sql", PackageResources.V035_daily_figures_sql),
        ("V036_erasure_requests.sql", PackageResources.V036_erasure_requests_sql),
        ("V037_names.sql", PackageResources.V037_names_sql),
        ("V038_identity_names.sql", PackageResources.V038_identity_names_sql),
        ("V039_claimed_addresses.sql", PackageResources.V039_claimed_addresses_sql),
        ("V040_event_traces.sql", PackageResources.V040_event_traces_sql),
        ("V041_tenant_moves.sql", PackageResources.V041_tenant_moves_sql),
        ("V042_handed_over_accounts.sql", PackageResources.V042_handed_over_accounts_sql),
        ("V043_statistics.sql", PackageResources.V043_statistics_sql),
        ("V044_device_tokens.sql", PackageResources.V044_device_tokens_sql),
    ]

    /// Creates or repairs the functions that destroy data, as the owner of the tables.
    package static let functions = String(
        decoding: PackageResources.functions_sql, as: UTF8.self)

    /// Recreates the triggers of append-only level 1 after drift.
    package static var guardTriggers: String { guardText(PackageResources.guard_triggers_sql) }

    /// Recreates the event triggers of append-only level 3; for a superuser.
    package static var guardEventTriggers: String {
        guardText(PackageResources.guard_event_triggers_sql)
    }

    /// Lists the unmet requirements of each append-only level.
    package static var guardFindings: String { guardText(PackageResources.guard_findings_sql) }

    private static func guardText(_ bytes: [UInt8]) -> String {
        GuardedTables.insert(into: String(decoding: bytes, as: UTF8.self))
    }
}
