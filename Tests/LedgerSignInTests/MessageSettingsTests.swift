import Ledger
import LedgerMessages
import LedgerSignIn
import Testing

/// The configuration of a tenant's messages in the providers file.
@Suite struct MessageSettingsTests {
    private func parse(_ messages: String?) throws -> MessageSettings? {
        let more = messages.map { ",\"messages\":\($0)" } ?? ""
        return try ProvidersFile.parse(
            Array("{\"providers\":[]\(more)}".utf8), policy: TenantPolicy(providers: []))[.default]?
            .messages
    }

    @Test func `without the member nothing is sent by SMS`() throws {
        let settings = try #require(try parse(nil))
        #expect(settings == MessageSettings())
        #expect(settings.smsCountries.codes.isEmpty)
    }

    @Test func `every member is read`() throws {
        let text = """
            {"product":"Bücherladen","language":"de","url":"https://id.example/b",\
            "sms_countries":["DE","AT"],"sms_per_hour":50}
            """
        #expect(
            try parse(text)
                == MessageSettings(
                    product: "Bücherladen", language: .german, baseURL: "https://id.example/b",
                    smsCountries: SMSCountries(["DE", "AT"]), smsPerHour: 50))
    }

    @Test(arguments: [
        ("{}", "messages.product is missing"),
        ("[]", "messages must be an object"),
        (#"{"product":"x","from":"y"}"#, "messages.from is an unknown member"),
        (#"{"product":"x","language":"fr"}"#, #"messages.language must be "en" or "de""#),
        (
            #"{"product":"x","url":"http://id.example"}"#,
            "messages.url must be an https URL without a slash at its end, query or fragment"
        ),
        (
            #"{"product":"x","sms_countries":["de"]}"#,
            #"messages.sms_countries must be codes of countries in upper case such as "DE""#
        ),
        (
            #"{"product":"x","sms_per_hour":0}"#,
            "messages.sms_per_hour must be a whole number from 1 to 1000000"
        ),
        (
            #"{"product":"x\u2028y"}"#,
            "messages.product must be at most 64 bytes of printable text"
        ),
    ])
    func `a wrong member is refused with its location`(text: String, line: String) {
        let error = #expect(throws: ProvidersFileFault.self) { try parse(text) }
        #expect(error?.description == line)
    }
}
