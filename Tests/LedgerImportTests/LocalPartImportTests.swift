import Cryptography
import Ledger
import LedgerImport
import LedgerSignIn
import Testing

/// Addresses of an export whose local parts have other characters than ASCII.
@Suite struct LocalPartImportTests {
    private func mapped(_ localParts: EmailLocalParts) throws -> AccountMapper.Mapped? {
        var policy = TenantPolicy(providers: [])
        policy.providers[try #require(ProviderName("email"))] = ProviderPin(
            type: .email, issuers: [])
        let mapper = AccountMapper(
            .auth0, under: policy, given: [:],
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            localParts: localParts, isPreview: true, reason: "")
        let record = #"{"user_id":"email|1","email":"Jose\u0301@X.test","email_verified":true}"#
        let read = try #require(try AccountFileTests.records(.auth0, [record]).first?.record)
        guard case .account(let account) = read else { return nil }
        return mapper.map(account, at: Timestamp(seconds: 0)) { 1 }
    }

    @Test func `they are imported in NFC where the tenant takes them`() throws {
        let command = try #require(try mapped(.any)?.command)
        let text = try #require(command.addresses.first?.address.text)
        #expect(Array(text.utf8) == Array("Jos\u{E9}@x.test".utf8))
    }

    @Test func `they are no addresses elsewhere, and the account is left out`() throws {
        let mapped = try #require(try mapped(.ascii))
        #expect(mapped.command == nil)
        #expect(mapped.losses.contains(.invalidAddress))
    }
}
