import HTTP
import Ledger
import LedgerTestSupport
import Testing

/// Exports of bundles; their content is tested with a database.
struct ExportRouteTests {
    private static let path = "/v1/exports"

    private func service() async throws -> (TestService, Person) {
        let service = try TestService()
        let ada = try await service.signIn("google", "ada")
        _ = try await service.signIn("apple", "bob")
        return (service, ada)
    }

    @Test func `a bundle of the log or of an account is a tar, and recorded`() async throws {
        let (service, ada) = try await service()
        service.audit.proofs.seal(at: service.clock.now)
        for role in [Role.auditor, .admin] {
            let key = try service.audit.key(role)
            for (body, name, scope) in [
                ("{}", "default", "all"), ("", "default", "all"),
                ("{\"account_id\":\"\(ada.userID)\"}", ada.userID, "account"),
            ] {
                let response = try await service.respond(
                    "POST", Self.path, body, token: key, headers: [("Ledger-Reason", "audit")])
                #expect(response.status == 200 && response.stream != nil)
                let fields = response.headers
                #expect(fields.contains { $0 == ("Content-Type", "application/x-tar") })
                let disposition = "attachment; filename=\"account-ledger-\(name)-6.tar\""
                #expect(fields.contains { $0 == ("Content-Disposition", disposition) })
                let line = try #require(service.audit.access.accesses().last)
                #expect(line.action == "log.export" && line.reason == "audit")
                #expect(line.details == "{\"format\":\"bundle\",\"scope\":\"\(scope)\"}")
                #expect(!line.isDisclosed)
                #expect((line.account?.description == ada.userID) == (scope == "account"))
            }
        }
    }

    @Test func `support may not export, and nothing is exported before a checkpoint`()
        async throws
    {
        let (service, _) = try await service()
        func send(_ body: String, as role: Role) async throws -> String {
            try await service.send(
                "POST", Self.path, body, token: try service.audit.key(role)
            ).summary
        }
        #expect(try await send("{}", as: .support) == "403 FORBIDDEN")
        #expect(try await send("{}", as: .auditor) == "404 NOT_SEALED_YET")
        service.audit.proofs.seal(at: service.clock.now)
        #expect(try await send(#"{"account_id":"x"}"#, as: .admin) == "400 INVALID_REQUEST")
        #expect(try await send(#"{"account_id":7}"#, as: .admin) == "400 INVALID_REQUEST")
        #expect(
            try await send("{\"account_id\":\"\(AccountID(bits: 7))\"}", as: .admin)
                == "404 ACCOUNT_NOT_FOUND")
    }
}
