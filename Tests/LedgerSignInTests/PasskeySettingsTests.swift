import Ledger
import LedgerSignIn
import Passkeys
import Testing

struct PasskeySettingsTests {
    private struct OtherType: Error {}

    private func settings(_ members: String) throws -> PasskeySettings {
        let file = "{\"providers\":[{\"name\":\"passkey\",\"type\":\"passkey\",\(members)}]}"
        let tenants = try ProvidersFile.parse(Array(file.utf8), policy: TenantPolicy(providers: []))
        let tenant = try #require(tenants[.default])
        let name = try #require(ProviderName("passkey"))
        // Another domain has other passkeys, so it is pinned as an issuer is.
        #expect(tenant.policy.providers[name]?.issuers == ["example.com"])
        guard case .passkey(let settings)? = tenant.providers[name]?.settings else {
            throw OtherType()
        }
        return settings
    }

    @Test func `the domain and the pages are read`() throws {
        let short = try settings(
            #""rp_id":"example.com","origins":["https://example.com","https://a.example.com:8443"]"#
        )
        #expect(short.relyingParty.id == "example.com" && short.relyingParty.name == "example.com")
        #expect(
            short.relyingParty.origins == ["https://example.com", "https://a.example.com:8443"])
        #expect(!short.requiresVerification && short.refusesCounterRollback)
        let long = try settings(
            #""rp_id":"example.com","rp_name":"Example","origins":["https://example.com"],"#
                + #""requires_verification":true,"hourly_limit_per_network":1,"#
                + #""refuse_counter_rollback":false"#)
        #expect(!long.refusesCounterRollback)
        #expect(long.relyingParty.name == "Example" && long.requiresVerification)
        #expect(long.budget.take(for: "192.0.2.1", at: Timestamp(seconds: 0)) == nil)
        #expect(long.budget.take(for: "192.0.2.1", at: Timestamp(seconds: 0)) == 3600)
    }

    @Test(arguments: [
        (#""origins":["https://example.com"]"#, "rp_id is missing"),
        (#""rp_id":"example.com""#, "origins is missing"),
        (#""rp_id":"example.com","origins":[]"#, "origins must not be empty"),
        (#""rp_id":"example.com","origins":["https://a.example"]"#, "subdomains"),
        (#""rp_id":"example.com","origins":["http://example.com"]"#, "subdomains"),
        (#""rp_id":"example.com","origins":["android:apk-key-hash:AAAA"]"#, "subdomains"),
        (#""rp_id":"https://example.com","origins":["https://example.com"]"#, "subdomains"),
        (
            #""rp_id":"example.com","origins":["https://example.com"],"requires_verification":1"#,
            "must be true or false"
        ),
        (
            #""rp_id":"example.com","origins":["https://example.com"],"hourly_limit":0"#,
            "must be"
        ),
        (#""rp_id":"example.com","origins":["https://example.com"],"issuer":"x""#, "unknown"),
    ])
    func `other settings are refused`(members: String, message: String) {
        let fault = #expect(throws: ProvidersFileFault.self) { try settings(members) }
        #expect(fault?.description.contains(message) == true, "\(fault?.description ?? "")")
    }
}
