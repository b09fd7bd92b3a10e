import Ledger
import Testing

@testable import LedgerSignIn

/// The setting of a provider by which its issuer's methods stand for a second factor.
struct SecondFactorSettingTests {
    private func methods(_ member: String) throws -> Set<String> {
        let file = """
            {"providers":[{"name":"google","type":"oidc","issuer":"https://a.example",
            "jwks_uri":"https://a.example/k","audiences":["a"]\(member)}]}
            """
        let tenants = try ProvidersFile.parse(
            Array(file.utf8), policy: TenantPolicy(providers: []))
        guard case .oidc(let settings)? = tenants[.default]?.providers.values.first?.settings else {
            throw Credential.Flaw.unsupported
        }
        return settings.secondFactorMethods
    }

    @Test func `a provider lists the methods, and has none by default`() throws {
        #expect(try methods("").isEmpty)
        #expect(
            try methods(#","second_factor_amr":["mfa","otp","hwk"]"#) == ["mfa", "otp", "hwk"])
        for value in AuthenticationMethods.issuersSecondFactors {
            #expect(try methods(",\"second_factor_amr\":[\"\(value)\"]") == [value])
        }
    }

    @Test func `the methods and the accepted counters of providers are rules of the tenant`()
        throws
    {
        func policy(_ amr: String, _ rollback: String) throws -> TenantPolicy? {
            let file = """
                {"providers":[{"name":"google","type":"oidc","issuer":"https://a.example",
                "jwks_uri":"https://a.example/k","audiences":["a"]\(amr)},{"name":"passkey",
                "type":"passkey","rp_id":"a.example","origins":["https://a.example"]\(rollback)}]}
                """
            return try ProvidersFile.parse(
                Array(file.utf8), policy: TenantPolicy(providers: []))[.default]?.policy
        }
        let defaults = try #require(try policy("", ""))
        #expect(defaults.secondFactorMethods.isEmpty && defaults.counterRollbackProviders.isEmpty)
        #expect(try policy("", #","refuse_counter_rollback":true"#) == defaults)
        let rules = try #require(
            try policy(
                #","second_factor_amr":["otp","mfa"]"#, #","refuse_counter_rollback":false"#))
        let google = try #require(ProviderName("google"))
        #expect(rules.secondFactorMethods.mapValues(\.description) == [google: "mfa otp"])
        #expect(rules.counterRollbackProviders.map(\.description) == ["passkey"])
        #expect(rules.providers == defaults.providers)
    }

    private static let known =
        "must be one of face, fpt, hwk, iris, mca, mfa, otp, retina, sc, sms, swk, tel, vbm"

    @Test(arguments: [
        ("[]", " must not be empty"), ("\"mfa\"", " must be a list of strings"),
        ("null", " must be a list of strings"), ("[\"mfa\",5]", "[1] must be a string"),
        ("[\"mfa\",\"mfa\"]", "[1] is a duplicate"), ("[\"mfa\",\"\"]", "[1] must not be empty"),
        ("[\"pwd\"]", "[0] \(known)"), ("[\"mfa\",\"MFA\"]", "[1] \(known)"),
        ("[\"rba\"]", "[0] \(known)"), ("[\"fed_mfa\"]", "[0] \(known)"),
    ])
    func `a list of other values is refused with its location`(list: String, line: String) {
        let fault = #expect(throws: ProvidersFileFault.self) {
            try methods(",\"second_factor_amr\":\(list)")
        }
        #expect(fault?.description == "providers[0].second_factor_amr\(line)")
    }
}
