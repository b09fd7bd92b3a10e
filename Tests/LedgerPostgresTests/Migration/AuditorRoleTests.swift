import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// The auditors' group reads without personal data and without keys.
@Suite struct AuditorRoleTests {
    @Test func `an auditor's login verifies and reads histories`() async throws {
        try await ErasureFixture.with(owner: .plain) { fixture in
            try await SealingFixture.with(fixture.database) { sealing in
                try await sealing.sealOnce()
                // A table that is newer than the grants has them, too.
                let rebuild = OnlineRebuild(
                    ownerURL: fixture.database.ownerURL, keyring: SequencerFixture.keyring)
                for projection in ProjectionName.allCases { _ = try await rebuild.run(projection) }
                await rebuild.close()
                try await fixture.database.withAuditor { url in
                    let whole = try await verify(url)
                    #expect(whole.holds && !whole.isSearched, "\(whole.findings)")
                    #expect(whole.counts[.checkpoints] == 1)

                    let reads = HistoryReads(
                        url: url, keyring: nil, connections: 1, searchesWholeLog: true,
                        deadline: .seconds(20), onFault: { Issue.record("\($0)") })
                    let page = try await reads.history(
                        of: fixture.ada.account, after: nil, asOf: nil, limit: 100,
                        isDisclosing: false, in: .default)
                    #expect((page?.events.count ?? 0) > 5)
                    await reads.close()
                    try await findByIDs(url, fixture)

                    // The second pass reads more, but no more than the group may.
                    try await fixture.database.asSuperuser.execute(
                        """
                        UPDATE accounts SET next_seq = next_seq + 1;
                        UPDATE identities SET linked_position = linked_position + 1;
                        UPDATE user_providers_1 SET linked_position = linked_position + 1;
                        UPDATE account_audit_2 SET type = 'x'
                        """)
                    let damaged = try await verify(url)
                    let checks = Set(damaged.findings.map(\.check))
                    #expect(
                        checks.isSuperset(of: [
                            .accounts, .identities, .userProviders, .accountAudit,
                        ]), "\(damaged.findings)")
                }
            }
        }
    }

    /// Finds an account by its id, its identity's and its events'.
    private func findByIDs(_ url: String, _ fixture: ErasureFixture) async throws {
        let ids = try await fixture.database.asSuperuser.texts(
            """
            SELECT identity_id::text FROM identities WHERE provider_id = 'subject-of-ada'
            UNION ALL SELECT event_id::text FROM events WHERE type = 'ProviderUnlinked'
            """)
        #expect(ids.count == 2)
        let reads = SearchReads(url: url, keys: nil) { Issue.record("\($0)") }
        for id in ids + ["\(fixture.ada.account)"] {
            let term = try #require(SearchTerm(id) { RequestID($0) })
            let found = try await reads.found(
                by: term, comparesPersonalData: false, in: .default)
            #expect(found.accounts.map(\.id) == [fixture.ada.account], "\(id)")
        }
        await reads.close()
    }

    private func verify(_ url: String) async throws -> VerificationReport {
        let verifier = Verifier(url: url, keyring: nil)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }
}

extension ScratchDatabase {
    /// Runs a body with a login of the auditors' group, which is created if needed.
    func withAuditor(_ body: (String) async throws -> Void) async throws {
        let login = "\(name)_reader"
        let group = LedgerRoles(database: name).auditor
        let found = try await asSuperuser.texts(
            "SELECT rolname::text FROM pg_roles WHERE rolname = '\(group)'")
        if found.isEmpty {
            try await asSuperuser.execute("CREATE ROLE \"\(group)\" NOLOGIN")
            // Only a login that may create roles, or finds them, grants the groups their rights.
            _ = try await migrate()
        }
        try await asSuperuser.execute(
            "CREATE ROLE \"\(login)\" LOGIN PASSWORD 'reader' IN ROLE \"\(group)\"")
        do {
            try await body(
                try TestCluster.url(replacing: [
                    "dbname": name, "user": login, "password": "reader",
                ]))
        } catch {
            try await asSuperuser.execute("DROP ROLE \"\(login)\"")
            throw error
        }
        try await asSuperuser.execute("DROP ROLE \"\(login)\"")
    }
}
