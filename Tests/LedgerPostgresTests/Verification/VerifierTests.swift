import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

/// Findings of a verification: all damage, and nothing on a sound ledger.
@Suite struct VerifierTests {
    /// In one range over one connection, and in several over several.
    @Test(arguments: [Int64(2_000), 5, 1])
    func `a log that a sequencer wrote holds`(rangeEvents: Int64) async throws {
        try await HistoryFixture.with { history in
            let report = try await history.verify(rangeEvents: rangeEvents)
            #expect(report.holds, "\(report.findings)")
            #expect(!report.isSearched, "the first pass is enough")
            #expect(report.events == HistoryFixture.count)
            #expect(report.tenants == 1)
            #expect(report.opensDisclosures)
            #expect(report.withheldDisclosures == 0)
            let none: Set<VerificationCheck> = [
                .links, .erasures, .merges, .rules, .addresses, .names, .credentials, .factors,
                .erasureRequests, .apiKeys,
                .nodes, .checkpoints, .accessLog, .macs,
            ]
            for check in VerificationCheck.allCases where !none.contains(check) {
                #expect(report.counts[check, default: 0] > 0, "\(check.rawValue) was checked")
            }
        }
    }

    @Test(arguments: Damage.all)
    func `damage is found at its position`(damage: Damage) async throws {
        try await HistoryFixture.with { history in
            try await history.damage(damage.sql)
            let report = try await history.verify(rangeEvents: 5)
            #expect(!report.holds)
            let found = report.findings.contains {
                $0.check == damage.check && $0.position == damage.position.map { LogPosition($0) }
            }
            #expect(found, "\(report.findings)")
            for secret in ["ada@", "robert", "mallory", "ada-g", Story.clientIP] {
                #expect(!report.findings.contains { $0.description.contains(secret) })
            }
        }
    }

    @Test func `without keys everything else is checked`() async throws {
        try await HistoryFixture.with { history in
            var report = try await history.verify(keyring: nil)
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            #expect(!report.opensDisclosures)
            try await history.damage("UPDATE user_providers SET linked_at = 'epoch'")
            report = try await history.verify(keyring: nil)
            #expect(report.findings.first?.check == .userProviders)
        }
    }

    @Test func `a missing disclosure is counted and found`() async throws {
        try await HistoryFixture.with { history in
            try await history.damage("DELETE FROM disclosures WHERE position = 10")
            let report = try await history.verify()
            // The address and the user agent of the sign-out.
            #expect(report.withheldDisclosures == 2)
            #expect(report.findings.first?.check == .disclosures)
            #expect(report.findings.first?.position == LogPosition(10))
        }
    }

    @Test func `a projection that is behind is compared at its checkpoint`() async throws {
        try await HistoryFixture.with { history in
            try await history.damage(
                """
                UPDATE projections SET position = 8;
                DELETE FROM account_audit WHERE position >= 8;
                DELETE FROM conflicts WHERE first_position >= 8;
                UPDATE user_providers SET email = 'bob@example.com' WHERE provider = 'google';
                INSERT INTO user_providers SELECT tenant_id, last_account_id, provider,
                    provider_id, 'g@example.com', identity_id, linked_at, linked_position, true
                FROM identities WHERE provider_id = 'ada-g'
                """)
            let report = try await history.verify()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            try await history.database.fold()
            let caughtUp = try await history.verify()
            #expect(caughtUp.holds && !caughtUp.isSearched, "\(caughtUp.findings)")
        }
    }

    /// Damage is located by the second pass, so this tests the first: it must notice a difference in any
    /// column of any table, with and without keys.
    @Test(arguments: [true, false])
    func `no column derived from the log can change unnoticed`(hasKeys: Bool) async throws {
        let columns = [
            "events":
                "event_id type schema_version recorded_at account_id account_seq command_id request_id actor",
            "accounts": "account_id opened_position next_seq last_leaf last_position",
            "identities":
                "identity_id provider account_id last_account_id linked_at linked_position",
            "sessions":
                "session_id account_id identity_id authenticated_at opened_at opened_position ended_position methods",
            "user_providers_1": "user_id provider identity_id linked_at linked_position",
            "account_audit_1":
                "account_id account_seq position event_id recorded_at type outcome reason actor provider identity_id session_id request_id providers_before providers_after",
            "conflicts_1":
                "first_position first_event first_at last_position last_event last_at attempts reason provider identity_id caller_id caller_now callers holder_id holder_now resolved_position resolved_event resolved_at resolved_type resolved_actor",
        ]
        let personal = [
            "identities": "provider_id", "user_providers_1": "provider_id email email_verified",
            "account_audit_1": "client_ip",
        ]
        try await HistoryFixture.with { history in
            for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
                let all = names + (hasKeys ? " " + (personal[table] ?? "") : "")
                for column in all.split(separator: " ") {
                    let report = try await history.verify(
                        changing: String(column), of: table, hasKeys: hasKeys)
                    #expect(report.isSearched && !report.holds, "\(table).\(column)")
                }
            }
            let report = try await history.verify()
            #expect(report.holds && !report.isSearched, "everything was put back")
        }
    }

    private static let addressPolicy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.reauthenticationSeconds = .max / 2_000_000
        return policy
    }()

    @Test func `a changed address is verified by the first pass`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: Self.addressPolicy) { fixture in
                var generator = SeededGenerator(seed: 1)
                let signIn = SignIn(address: "ada@example.com", &generator)
                guard case .signedIn(let grant, _) = try await fixture.submit(.signIn(signIn)).get()
                else { throw Unexpected(what: "no session") }
                let ada = Caller(account: grant.account, session: grant.session)
                let google = Credential(
                    subject("google", "ada"), email: Email("g@example.com", isVerified: false),
                    digest: .zero)
                let link = LinkProvider(
                    caller: ada, credential: google, idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                let present = try #require(signIn.proof.address)
                let change = ChangeAddress(
                    SessionRenewal(
                        caller: ada, password: nil, refreshToken: .zero,
                        newSession: generator.id()),
                    from: present.names,
                    to: addressProof("new@example.com", new: generator.id()),
                    newFormer: generator.id())
                _ = try await fixture.submit(.changeAddress(change)).get()
            }
            try await database.fold()
            let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await verifier.run()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            try await database.asSuperuser.execute(
                "UPDATE user_providers SET email = 'ada@example.com' WHERE provider = 'email'")
            #expect(try await !verifier.run().holds)
            await verifier.close()
        }
    }

    @Test func `a verification without further connections reports that`() async throws {
        try await HistoryFixture.with { history in
            try await history.database.asSuperuser.execute(
                "ALTER ROLE \(history.database.runtimeLogin) CONNECTION LIMIT 1")
            await #expect(throws: PostgresError.self) {
                try await history.verify(rangeEvents: 5)
            }
        }
    }

    @Test func `each tenant is verified by itself, whatever table names it`() async throws {
        let acme = tenant("acme")
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                try await fixture.open(acme)
                for tenant in [TenantID.default, acme] {
                    var story = Story(fixture.sequencer, tenant: tenant)
                    _ = try await story.signIn("apple", "ada", email: "a@b.c")
                }
                try await database.fold()
                let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
                let report = try await verifier.run()
                #expect(report.holds, "\(report.findings)")
                #expect((report.tenants, report.events) == (2, 8))
                try await database.asSuperuser.execute(
                    """
                    UPDATE user_providers SET tenant_id = 'ghost' WHERE tenant_id = 'acme'
                    """)
                let damaged = try await verifier.run()
                #expect(Set(damaged.findings.map(\.tenant)) == ["acme", "ghost"])
                #expect(try await verifier.run(tenant: .default).holds)
            }
        }
    }
}
