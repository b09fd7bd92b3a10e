import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

/// Forgeries with the stolen serving login, without the key directory.
@Suite struct ForgedEventTests {
    private typealias Forging = (inout Forger, HistoryFixture) throws -> Void

    private static let support = Actor.principal(
        Principal(key: APIKeyID(bits: 7), role: .support))

    private static func link(_ forger: inout Forger, _ fixture: HistoryFixture) throws {
        try forger.link(
            "thief", of: "facebook", to: fixture.ada.account,
            by: .account(fixture.ada.account, session: fixture.ada.caller.session))
    }

    private static func with(
        _ forge: @Sendable (inout Forger, HistoryFixture) throws -> Void,
        _ body: @Sendable (HistoryFixture) async throws -> Void
    ) async throws {
        try await HistoryFixture.with { fixture in
            var forger = try await Forger(fixture.database)
            try forge(&forger, fixture)
            try await fixture.database.asRuntime.execute(forger.sql)
            try await fixture.database.fold()
            try await body(fixture)
        }
    }

    @Test func `a link without a subject is found at its position`() async throws {
        try await Self.with(Self.link) { fixture in
            let thief = try await fixture.database.asSuperuser.texts(
                "SELECT identity_id::text FROM identities WHERE provider_id = 'thief'")
            let report = try await fixture.verify()
            #expect(
                report.findings.map(\.description) == [
                    "tenant default, position 12, disclosures: not disclosed: client_ip, provider_id,"
                        + " as every event of its kind does",
                    "tenant default, position 12, identities: provider_id of identity \(thief[0]) was"
                        + " never disclosed",
                ])
        }
    }

    @Test func `without keys a link that commits to nothing is found as well`() async throws {
        try await Self.with(Self.link) { fixture in
            let report = try await fixture.verify(keyring: nil)
            #expect(
                report.findings.map(\.description) == [
                    "tenant default, position 12, disclosures: the entry commits to 0 disclosures, and"
                        + " every event of its kind to at least 2"
                ])
        }
    }

    @Test func `a merge by support without a reason and a case is found at its position`()
        async throws
    {
        try await Self.with { forger, fixture in
            try forger.merge(fixture.ada.account, into: fixture.bob.account, by: Self.support)
        } _: { fixture in
            let report = try await fixture.verify()
            #expect(
                report.findings.map(\.description) == [
                    "tenant default, position 12, disclosures: not disclosed: case_reference, reason,"
                        + " as every event of its kind does"
                ])
        }
    }

    @Test func `a sign-in without an address is found at its position`() async throws {
        try await Self.with { forger, fixture in
            let ada = try #require(forger.state.accounts[fixture.ada.account])
            let apple = try #require(ada.links.first)
            let fact = SignedIn(
                account: ada.id, authenticatedAt: forger.state.lastRecordedAt,
                identity: apple.identity, methods: .federated, provider: apple.provider,
                session: forger.newID())
            try forger.append(.signedIn(fact), by: .account(ada.id, session: fact.session))
        } _: { fixture in
            let report = try await fixture.verify()
            #expect(
                report.findings.map(\.description) == [
                    "tenant default, position 12, disclosures: not disclosed: client_ip, as every"
                        + " event of its kind does"
                ])
        }
    }

    @Test func `an unlink by support before its time is found in a tenant without the rule`()
        async throws
    {
        try await Self.with { forger, fixture in
            try Self.link(&forger, fixture)
            let ada = try #require(forger.state.accounts[fixture.ada.account])
            let link = try #require(ada.links.last)
            let due = forger.state.lastRecordedAt.adding(seconds: 86_400)
            try forger.append(
                .providerUnlinkPlanned(
                    ProviderUnlinkPlanned(
                        account: ada.id, due: due, identity: link.identity,
                        provider: link.provider)), by: Self.support)
            var policy = SequencerFixture.unlimitedPolicy
            policy.supportNeedsTwo = true
            try forger.assume(policy)
            let asker = Principal(key: APIKeyID(bits: 8), role: .support)
            try forger.append(
                .providerUnlinked(
                    ProviderUnlinked(
                        account: ada.id, identity: link.identity, provider: link.provider,
                        cause: .support, effect: .confirmed(asker: asker))), by: Self.support)
        } _: { fixture in
            let report = try await fixture.verify(keyring: nil)
            #expect(
                report.findings.contains {
                    $0.description.hasPrefix("tenant default, position 14, fold: the unlink of")
                        && $0.text.hasSuffix("is not due, and the rules have no second person")
                }, "\(report.findings)")
        }
    }

    @Test func `disclosures of an account that was erased afterwards are counted`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            var forger = try await Forger(fixture.database)
            try forger.link(
                "thief", of: "facebook", to: fixture.ada.account,
                by: .account(fixture.ada.account, session: nil))
            try await fixture.database.asRuntime.execute(forger.sql)
            var story = fixture.story
            _ = try await story.erase(fixture.ada.account).get()
            try await fixture.settle()
            let report = try await fixture.verify()
            #expect(
                report.findings.map(\.text) == [
                    "the entry commits to 0 disclosures, and every event of its kind to at least 2"
                ])
        }
    }
}
