import Cryptography
import JSON
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// External ids in access tokens.
@Suite(.overBothTransports) struct TokenNamesTests {
    private struct NoNames: NameReader {
        func account(
            named name: ExternalName, in tenant: TenantID
        ) async throws(LedgerFault) -> NamedAccount? { throw .unavailable }

        func names(
            of account: AccountID, in sources: [NameSource], countMax: Int, of tenant: TenantID
        ) async throws(LedgerFault) -> [ExternalName] { throw .unavailable }
    }

    private func source(_ name: String) throws -> NameSource { try #require(NameSource(name)) }

    /// A service whose tokens have ids of Auth0, and two people with such ids.
    private func service() async throws -> (TestService, ada: Person, bob: Person) {
        let sources = [try source("auth0")]
        let service = try TestService { $0.tokenSources = sources }
        try await service.importAccount(named: "auth0|ada", as: subject("google", "ada"))
        try await service.importAccount(
            named: "auth0|bob", as: subject("apple", "bob"), number: 81)
        return (
            service, try await service.signIn("google", "ada"),
            try await service.signIn("apple", "bob")
        )
    }

    /// The ids of Auth0 in an access token; nil without the claim.
    private func ids(_ person: Person) -> [String]? {
        person.claims?["account_ledger"]?.members?["external_ids"]?.members?["auth0"]?.array?
            .compactMap(\.string)
    }

    private func refreshed(_ person: Person, _ service: TestService) async throws -> Person {
        try Person(await service.refresh(person.refreshToken))
    }

    @Test func `an access token states the external ids, also after a refresh`() async throws {
        let (service, ada, bob) = try await service()
        #expect(ids(ada) == ["auth0|ada"] && ids(bob) == ["auth0|bob"])
        let again = try await refreshed(ada, service)
        #expect(ids(again) == ["auth0|ada"])
        #expect(
            again.claims?["account_ledger"]?.members?.keys.sorted() == ["external_ids"])
        #expect(try await service.account(again.accessToken).status == 200)
        let process = try service.restarted()
        #expect(try await process.account(again.accessToken).status == 200)
    }

    @Test func `the token of an account without such ids has no claim`() async throws {
        let (service, _, _) = try await service()
        let eve = try await service.signIn("google", "eve")
        #expect(eve.claims?["account_ledger"] == nil)
        let sources = [try source("firebase")]
        let other = try service.restarted { $0.tokenSources = sources }
        let ada = try await other.signIn("google", "ada")
        #expect(ada.claims?["account_ledger"] == nil)
    }

    @Test func `nothing is read for a tenant that names no source`() async throws {
        let (service, _, _) = try await service()
        let plain = try service.restarted {
            $0.tokenSources = []
            $0.names = NoNames()
        }
        let ada = try await plain.signIn("google", "ada")
        #expect(ada.claims?["account_ledger"] == nil)
        #expect(try await refreshed(ada, plain).claims?["account_ledger"] == nil)
    }

    @Test func `a token says that its ids could not be read, and the session goes on`()
        async throws
    {
        let (service, ada, _) = try await service()
        let failing = try service.restarted { $0.names = NoNames() }
        func claim(_ person: Person) -> JSONMembers? { person.claims?["account_ledger"]?.members }
        let without = try await refreshed(ada, failing)
        #expect(claim(without)?["external_ids"]?.members?.keys.isEmpty == true)
        #expect(claim(without)?["external_ids_complete"] == .bool(false))
        let signedIn = try await failing.signIn("google", "ada")
        #expect(claim(signedIn)?["external_ids_complete"] == .bool(false))
        #expect(ids(try await refreshed(without, service)) == ["auth0|ada"])
    }

    @Test func `recovery codes are shown although the ids can't be read`() async throws {
        let (service, ada, _) = try await service()
        let failing = try service.restarted { $0.names = NoNames() }
        let holder = try await failing.enrol(ada)
        #expect(!holder.codes.isEmpty)
    }

    @Test func `a merge adds the ids of the other account, and its undoing takes them back`()
        async throws
    {
        let (service, ada, bob) = try await service()
        let key = try service.audit.key(.support)
        func post(_ path: String, _ body: String) async throws -> Answer {
            try await service.send(
                "POST", path, body, token: key, headers: MergeStory.reason)
        }
        let path = "/v1/accounts/\(ada.userID)/merge"
        let absorb = "\"absorb\":\"\(bob.userID)\""
        let plan = try #require(
            try await post(path + "/preview", "{\(absorb)}").text("plan_digest"))
        let merged = try await post(
            path, "{\(absorb),\"plan_digest\":\"\(plan)\",\"case\":\"7\"}")
        let event = try #require(merged.text("merge"))
        let survivor = try await refreshed(ada, service)
        #expect(ids(survivor) == ["auth0|ada", "auth0|bob"])
        let byOther = try await service.signIn("apple", "bob")
        #expect(byOther.userID == ada.userID && ids(byOther) == ids(survivor))
        let undone = try await post("/v1/merges/\(event)/undo", "{\"case\":\"7\"}")
        #expect(undone.status == 200)
        #expect(ids(try await service.signIn("google", "ada")) == ["auth0|ada"])
        #expect(ids(try await service.signIn("apple", "bob")) == ["auth0|bob"])
    }

    @Test func `an erased account's ids are in no later token`() async throws {
        let (service, ada, _) = try await service()
        let key = try service.audit.key(.admin)
        let erased = try await service.send(
            "DELETE", "/v1/accounts/\(ada.userID)", token: key, headers: MergeStory.reason)
        #expect(erased.status == 200)
        #expect(try await service.refresh(ada.refreshToken).status == 401)
        let again = try await service.signIn("google", "ada")
        #expect(again.userID != ada.userID && again.claims?["account_ledger"] == nil)
    }

    @Test func `long and many ids are left out as a whole, and the token says so`() throws {
        func claim(_ names: [ExternalName]) throws -> JSONMembers {
            let key = TokenSigningKey.generate()
            let tokens = AccessTokens(issuer: "i", audience: "a", current: key)
            let grant = Grant(
                account: AccountID(bits: 1), session: SessionID(bits: 2),
                authenticatedAt: Timestamp(seconds: 1), methods: .federated, linkedProviders: [])
            let token = tokens.issue(
                for: grant, names: TokenNames(names), in: .default, at: Timestamp(seconds: 1))
            #expect(token.utf8.count < AccessTokens.bytesMax)
            let payload = try #require(
                CompactJWS.verify(token, with: key.verificationKey, allowing: [.es256]))
            return try #require(
                JSONValue(parsing: payload)?.members?["account_ledger"]?.members)
        }
        func ids(_ claim: JSONMembers) -> [String]? {
            claim["external_ids"]?.members?["auth0"]?.array?.compactMap(\.string)
        }
        let quotes = String(repeating: "\"", count: ExternalName.idBytesMax)
        let long = try claim([externalName("1"), externalName(quotes), externalName("2")])
        #expect(ids(long) == ["1", quotes, "2"] && long["external_ids_complete"] == nil)
        let longer = try claim(
            [externalName("1"), externalName(quotes), externalName(quotes), externalName("2")])
        #expect(ids(longer) == ["1", quotes] && longer["external_ids_complete"] == .bool(false))
        let many = try claim((0...TokenNames.countMax).map { externalName("\($0)") })
        #expect(ids(many)?.count == TokenNames.countMax)
        #expect(many["external_ids_complete"] == .bool(false))
        let all = try claim((1...TokenNames.countMax).map { externalName("\($0)") })
        #expect(ids(all)?.count == TokenNames.countMax && all["external_ids_complete"] == nil)
    }
}
