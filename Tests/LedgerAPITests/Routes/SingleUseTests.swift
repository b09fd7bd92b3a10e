import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Single-use ID tokens, for tenants that require them.
@Suite(.overBothTransports) struct SingleUseTests {
    private static let acme = tenant("acme")

    private func service() throws -> TestService {
        try TestService {
            $0.tenants = [.default, Self.acme]
            $0.singleUseIDTokens = [.default]
        }
    }

    @Test func `a token that opened a session opens no other one after a minute`() async throws {
        let service = try service()
        let token = service.idToken("google", "ada")
        let first = try Person(await service.postSignIn("google", token))
        // A client that lost the answer tries again.
        service.clock.advance(seconds: 59)
        let again = try Person(await service.postSignIn("google", token))
        #expect(again.userID == first.userID)
        let log = service.log()
        service.clock.advance(seconds: 1)
        let late = try await service.postSignIn("google", token)
        #expect(late.summary == "401 INVALID_PROVIDER_TOKEN", "\(late.body)")
        #expect(service.log() == log, "no one is authenticated, so nothing is appended")
        let fresh = try Person(
            await service.postSignIn("google", service.idToken("google", "ada")))
        #expect(fresh.userID == first.userID)
    }

    @Test func `other tenants, and tenants without that setting, are not affected`() async throws {
        let service = try service()
        let token = service.idToken("google", "ada")
        _ = try Person(await service.postSignIn("google", token))
        service.clock.advance(seconds: 120)
        for _ in 0..<2 {
            let there = try await service.postSignIn("google", token, tenant: "/t/acme")
            #expect(there.status == 200, "\(there.body)")
            service.clock.advance(seconds: 120)
        }
        #expect(try await service.postSignIn("google", token).status == 401)
    }

    @Test func `only a sign-in spends a token, and only a sign-in is refused`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        let bob = try await service.signIn("apple", "bob")
        // An app tries to link, is refused, and signs in with the very same token.
        let token = service.idToken("google", "ada")
        #expect(try await service.link("google", token, by: bob).status == 409)
        service.clock.advance(seconds: 120)
        let none = try await service.postSignIn(
            "google", service.idToken("google", "new"), ",\"create_account\":false")
        #expect(none.status == 404)
        #expect(try Person(await service.postSignIn("google", token)).userID == ada.userID)
        service.clock.advance(seconds: 120)
        let conflict = try await service.link("google", token, by: bob)
        #expect(conflict.summary == "409 PROVIDER_CONFLICT", "\(conflict.body)")
        #expect(try await service.postSignIn("google", token).status == 401)
    }

    @Test func `a sign-in that opens no session spends nothing`() async throws {
        let service = try service()
        let token = service.idToken("google", "ada")
        let refused = try await service.postSignIn("google", token, ",\"create_account\":false")
        #expect(refused.status == 404)
        service.clock.advance(seconds: 120)
        #expect(try await service.postSignIn("google", token).status == 200)
    }
}
