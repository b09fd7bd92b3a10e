import Encodings
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Accounts by their ids in other systems.
@Suite(.overBothTransports) struct ExternalIDTests {
    private static let path = "/v1/accounts/by-external-id/auth0/"

    private func send(_ path: String, to service: TestService) async throws -> Answer {
        try await service.send(
            "GET", path, token: try service.audit.key(.support),
            headers: [("Ledger-Reason", "case 1")])
    }

    @Test(arguments: [
        "auth0|eve", "samlp|corp|https://idp.x.test/a?b=c#d", "/", "a/b/", "a%2Fb", "a b+c&d", "é",
    ])
    func `an account is found by its id, whatever characters that has`(id: String) async throws {
        let service = try TestService()
        try await service.importAccount(named: id)
        let found = try await send(Self.path + PercentEncoding.encode(id), to: service)
        #expect(found.status == 200, "\(found.body)")
        #expect(found.text("account") == found.text("named_account"))
        let other = try await send(Self.path + PercentEncoding.encode(id + "/"), to: service)
        #expect(other.summary == "404 ACCOUNT_NOT_FOUND")
        let tenant = try await send("/t/a%2Fb" + Self.path + "eve", to: service)
        #expect(tenant.summary == "404 NOT_FOUND")
    }
}
