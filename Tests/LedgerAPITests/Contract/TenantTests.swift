import Ledger
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct TenantTests {
    @Test func `tenants have accounts, logs and budgets of their own`() async throws {
        let acme = try #require(TenantID("acme"))
        let service = try TestService { $0.tenants = [.default, acme] }
        let here = try await service.signIn("apple", "ada")
        let there = try await service.signIn("apple", "ada", tenant: "/t/acme")
        #expect(here.userID != there.userID)
        #expect(there.isNew)
        #expect(service.log(.default) == service.log(acme))
        let token = service.idToken("google", "g")
        let inDefault = try await service.link("google", token, by: here)
        let inAcme = try await service.link("google", token, by: there, tenant: "/t/acme")
        #expect(inDefault.status == 200)
        #expect(inAcme.status == 200)
    }

    @Test func `the tenant default has two spellings`() async throws {
        let service = try TestService()
        let bare = try await service.signIn("apple", "ada")
        let spelt = try await service.signIn("apple", "ada", tenant: "/t/default")
        #expect(bare.userID == spelt.userID)
    }

    @Test(arguments: [LedgerFault.tenantMoved, .unavailable])
    func `health, documents, keys and pages are answered while default is not`(
        fault: LedgerFault
    ) async throws {
        let service = try TestService()
        service.ledger.fail(with: fault)
        let paths = [
            "/healthz", "/readyz", "/openapi.json", "/docs", "/.well-known/jwks.json", "/account",
            "/assets/account/style.css", "/console/", "/t/default/.well-known/jwks.json",
        ]
        for path in paths {
            let answer = try await service.send("GET", path)
            #expect(answer.status == 200, "\(path)")
        }
        // It says only that no session came back.
        let callback = try await service.send("GET", "/console/callback")
        #expect(callback.status < 500)
        let scoped = try await service.send("GET", "/v1/providers")
        #expect(scoped.status == 503)
    }

    @Test func `the keys of a tenant that is served elsewhere are published`() async throws {
        let acme = try #require(TenantID("acme"))
        let service = try TestService { $0.tenants = [.default, acme] }
        service.ledger.fail(with: .tenantMoved)
        let keys = try await service.send("GET", "/t/acme/.well-known/jwks.json")
        #expect(keys.status == 200)
        let unknown = try await service.send("GET", "/t/beta/.well-known/jwks.json")
        #expect(unknown.status == 404)
        let scoped = try await service.send("GET", "/t/acme/v1/providers")
        #expect(scoped.summary == "503 TENANT_MOVED")
    }
}
