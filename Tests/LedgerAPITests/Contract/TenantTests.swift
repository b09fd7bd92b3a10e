import Ledger
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
}
