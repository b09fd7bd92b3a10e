import Cryptography
import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Notices of commands whose caller has no address.
extension NoticeTests {
    /// Signs in with a provider that knows no address.
    private func signIn(_ name: String, _ scene: Scene) async throws -> Caller {
        let proof = proof(subject("apple", name))
        let signIn = SignIn(
            proof, createAccount: true, refreshToken: .zero,
            newAccount: AccountID(bits: .random(in: 1...(.max))),
            newIdentity: IdentityID(bits: .random(in: 1...(.max))),
            newSession: SessionID(bits: .random(in: 1...(.max))))
        guard
            case .signedIn(let grant, _) = try await scene.ledger.submit(.signIn(signIn)).get()
        else { throw Unexpected(what: "not signed in") }
        return Caller(account: grant.account, session: grant.session)
    }

    @Test func `a merge by a person without an address is told to the absorbed account's`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn("ada@example.com")
            try await scene.link(ada, google("ada"))
            let bob = try await signIn("bob", scene)
            _ = try await scene.sent()
            func merge(_ agreed: Digest?) async throws -> Reply {
                let credential = Credential(
                    provider: provider("google"), digest: .zero, check: .success(google("ada")))
                return try await scene.ledger.submit(
                    .mergeAccounts(
                        MergeAccounts(
                            authority: .accountHolder(bob, credential), keepsAbsorbed: [],
                            agreed: agreed, digest: sha256))
                ).get()
            }
            guard case .mergePlanned(_, let digest) = try await merge(nil) else {
                throw Unexpected(what: "no plan")
            }
            _ = try await merge(digest)
            #expect(try await scene.sent() == ["ada@example.com accounts_merged de -"])
            try await scene.unlink(bob, provider("google"))
            #expect(
                try await scene.sent() == [
                    "ada@example.com provider_unlinked de google of default"
                ])
        }
    }
}
