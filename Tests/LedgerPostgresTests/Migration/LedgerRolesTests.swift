import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

@Suite struct `Roles of the ledger` {
    @Test func `names include the database's and are distinct when it is long`() {
        #expect(LedgerRoles(database: "shop").runtime == "shop_ledger_runtime")
        let long = String(repeating: "é", count: 31)
        let other = long.dropLast() + "e"
        let roles = [LedgerRoles(database: long), LedgerRoles(database: String(other))]
        let names = roles.flatMap(\.all)
        #expect(names.allSatisfy { $0.utf8.count <= 63 })
        #expect(Set(names).count == 8)
        #expect(LedgerRoles(database: String(repeating: "a", count: 48)).runtime.utf8.count == 63)
    }

    enum Reader { case auditor, support }

    /// The role, the query, and whether it is allowed.
    static let reads: [(Reader, String, Bool)] = [
        (.auditor, "SELECT * FROM events", true),
        (.auditor, "SELECT * FROM ledger_head", true),
        (.auditor, "SELECT * FROM projections", true),
        (.auditor, "SELECT * FROM access_log", true),
        (.auditor, "SELECT * FROM api_keys", false),
        (.auditor, "SELECT account_id, type, actor, providers_after FROM account_audit", true),
        (.auditor, "SELECT client_ip FROM account_audit", false),
        (.auditor, "SELECT * FROM account_audit", false),
        (.auditor, "SELECT user_id, provider, linked_at FROM user_providers", true),
        (.auditor, "SELECT email FROM user_providers", false),
        (.auditor, "SELECT email_verified FROM user_providers_1", false),
        (.auditor, "SELECT provider_id FROM user_providers", false),
        (.auditor, "SELECT * FROM conflicts", true),
        (.auditor, "SELECT * FROM conflicts_1", true),
        (.auditor, "DELETE FROM conflicts", false),
        (.auditor, "SELECT * FROM identities", false),
        (.auditor, "SELECT former_email FROM identities", false),
        (.auditor, "SELECT * FROM sessions", false),
        (.auditor, "SELECT * FROM disclosures", false),
        (.auditor, "SELECT * FROM account_keys", false),
        (.auditor, "SELECT * FROM webhook_secrets", false),
        (.auditor, "INSERT INTO account_audit (tenant_id) VALUES ('x')", false),
        (.support, "SELECT client_ip FROM account_audit", true),
        (.support, "SELECT email, email_verified, provider_id FROM user_providers", true),
        (.support, "SELECT * FROM conflicts", true),
        (.support, "SELECT * FROM account_keys", false),
        (.support, "SELECT * FROM sessions", false),
        (.support, "SELECT * FROM webhook_secrets", false),
        (.support, "UPDATE user_providers SET email = ''", false),
    ]

    @Test func `auditors see no personal data, support sees it on request`() async throws {
        try await ScratchDatabase.with { database in
            let roles = LedgerRoles(database: database.name)
            for (reader, query, isAllowed) in Self.reads {
                let role = reader == .auditor ? roles.auditor : roles.support
                let state = try await database.asSuperuser.refusal(
                    of: "SET ROLE \(role); \(query)")
                #expect(state == (isAllowed ? nil : .insufficientPrivilege), "\(query)")
            }
        }
    }

    @Test(arguments: [
        "GRANT CREATE ON SCHEMA public TO PUBLIC", "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    ])
    func `the serving login works without CREATE, whatever PUBLIC could before`(
        before: String
    ) async throws {
        try await ScratchDatabase.with(owner: .roleCreator, isMigrated: false) { database in
            try await database.asSuperuser.execute(before)
            #expect(try await database.migrate().guards.level == .separateRoles)
            let create = try await database.asRuntime.refusal(of: "CREATE TABLE public.mine ()")
            #expect(create == .insufficientPrivilege)
            try await database.asRuntime.execute(ScratchDatabase.insertEvent(0))
        }
    }

    @Test func `a group with LOGIN or more is refused by name`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let runtime = LedgerRoles(database: database.name).runtime
            try await database.asSuperuser.execute("ALTER ROLE \(runtime) LOGIN")
            await #expect(throws: MigrationError.unsuitableRole(runtime)) {
                try await database.migrate()
            }
        }
    }

    @Test func `a serving login that does not inherit is refused`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator, isMigrated: false) { database in
            try await database.asSuperuser.execute("ALTER ROLE \(database.runtimeLogin) NOINHERIT")
            await #expect(
                throws: MigrationError.runtimeLoginLacksRights(database.runtimeLogin)
            ) {
                try await database.migrate()
            }
        }
    }
}
