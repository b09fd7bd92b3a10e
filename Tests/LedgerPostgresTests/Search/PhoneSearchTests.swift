import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

/// Searches for phone numbers, over a real database.
@Suite struct PhoneSearchTests {
    private static let number = "+4915123456789"
    private static let other = "+4915123456780"
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.providers[RandomCommands.phone] = ProviderPin(type: .phone, issuers: [])
        policy.reauthenticationSeconds = .max / 2_000_000
        return policy
    }()

    /// The results of a search by a number, under its names.
    private func found(
        _ number: String, in database: ScratchDatabase, tenant: TenantID = .default,
        comparingPersonalData: Bool = true
    ) async throws -> SearchResult {
        var term = try #require(
            SearchTerm(number, named: { _ in nil }, number: { $0 }))
        let proof = numberProof(number, new: AddressID(bits: 1))
        // A key that was removed has no row.
        let unused = AddressName(kind: .phone, digest: .zero, key: "other")
        term.addresses = [unused] + (try #require(proof.address).names)
        let reads = SearchReads(url: database.runtimeURL, keys: nil) { Issue.record("\($0)") }
        let found = try await reads.found(
            by: term, comparesPersonalData: comparingPersonalData, in: tenant)
        await reads.close()
        return found
    }

    private func matches(
        _ number: String, in database: ScratchDatabase
    ) async throws -> [String] {
        let found = try await found(number, in: database)
        #expect(found.events.isEmpty && !found.hasMore)
        return found.accounts.map { account in
            "\(account.id) \(account.matchedBy.map(\.rawValue).joined(separator: "+"))"
        }
            + found.identities.map { identity in
                "\(identity.provider) \(identity.matchedBy.map(\.rawValue).joined(separator: "+"))"
            }
    }

    @Test func `a number finds its account, after a change and an unlink by its former one`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: Self.policy) { fixture in
                var generator = SeededGenerator(seed: 1)
                let proof = numberProof(Self.number, new: generator.id())
                let signIn = SignIn(proof, &generator)
                let reply = try await fixture.submit(.signIn(signIn)).get()
                let grant = try #require(SignIn.success(in: reply)).grant
                let ada = Caller(account: grant.account, session: grant.session)
                #expect(
                    try await matches(Self.number, in: database)
                        == ["\(ada.account) phone", "phone phone"])
                #expect(try await matches(Self.other, in: database) == [])
                let silent = try await found(
                    Self.number, in: database, comparingPersonalData: false)
                #expect(silent.accounts.isEmpty && silent.identities.isEmpty)
                let elsewhere = try await found(Self.number, in: database, tenant: tenant("acme"))
                #expect(elsewhere.accounts.isEmpty)

                let renewal = SessionRenewal(
                    caller: ada, password: nil, refreshToken: digest(generator.bytes(32)),
                    newSession: generator.id())
                let change = ChangeAddress(
                    renewal, from: try #require(proof.address).names,
                    to: numberProof(Self.other, new: generator.id()), newFormer: generator.id())
                _ = try await fixture.submit(.changeAddress(change)).get()
                #expect(
                    try await matches(Self.number, in: database)
                        == ["\(ada.account) former_phone", "phone former_phone"])
                #expect(
                    try await matches(Self.other, in: database)
                        == ["\(ada.account) phone", "phone phone"])

                let caller = Caller(account: ada.account, session: renewal.newSession)
                let link = LinkProvider(
                    caller: caller, credential: Credential(subject("google", "ada"), digest: .zero),
                    idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                let unlink = UnlinkProvider(
                    caller: caller, provider: RandomCommands.phone, identity: nil,
                    idempotency: nil)
                _ = try await fixture.submit(.unlinkProvider(unlink)).get()
                #expect(
                    try await matches(Self.other, in: database)
                        == ["\(ada.account) former_phone", "phone former_phone"])
            }
        }
    }
}
