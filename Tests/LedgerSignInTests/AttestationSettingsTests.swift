import Ledger
import LedgerSignIn
import Testing

struct AttestationSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func endpoints(_ attestation: String) throws -> [String]? {
        let file =
            #"{"providers":[{"name":"guest","type":"anonymous","attestation":\#(attestation)}]}"#
        let tenants = try ProvidersFile.parse(Array(file.utf8), policy: TenantPolicy(providers: []))
        return tenants[.default]?.providers.values.first?.settings.endpoints
    }

    @Test(arguments: ["https://app.example.com/attest?v=1", "http://127.0.0.1:8081/attest"])
    func `the service is one of the addresses that the ledger calls`(url: String) throws {
        #expect(try endpoints(#"{"url":"\#(url)","secret":"\#(Self.secret)"}"#) == [url])
    }

    @Test(arguments: [
        ("7", " must be an object"), ("{}", ".url is missing"),
        (#"{"url":"https://a.example"}"#, ".secret is missing"),
        (#"{"url":"ftp://a.example","secret":"\#(secret)"}"#, ".url must be an https URL"),
        (#"{"url":"https://u:p@a.example","secret":"\#(secret)"}"#, ".url must be an https URL"),
        (
            #"{"url":"http://a.example","secret":"\#(secret)"}"#,
            ".url must use https, except on the loopback interface"
        ),
        (
            #"{"url":"https://a.example","secret":"whsec_c2hvcnQ="}"#,
            ".secret must be whsec_ and 24 to 64 bytes in base64"
        ),
        (
            #"{"url":"https://a.example","secret":"\#(secret)","timeout":1}"#,
            ".timeout is an unknown member"
        ),
    ])
    func `other settings are refused`(attestation: String, message: String) {
        let fault = #expect(throws: ProvidersFileFault.self) { try endpoints(attestation) }
        #expect(fault?.description == "providers[0].attestation\(message)")
    }

    @Test func `other types have no attestation`() {
        let file = #"{"providers":[{"name":"email","type":"email","attestation":{}}]}"#
        let fault = #expect(throws: ProvidersFileFault.self) {
            try ProvidersFile.parse(Array(file.utf8), policy: TenantPolicy(providers: []))
        }
        #expect(fault?.description == "providers[0].attestation is an unknown member")
    }
}
