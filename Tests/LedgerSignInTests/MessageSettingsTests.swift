import Foundation
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
            "sms_countries":["DE","AT"],"sms_per_hour":50,"sms_bound_codes":true}
            """
        var expected = MessageSettings(
            product: "Bücherladen", language: .german, baseURL: "https://id.example/b",
            smsCountries: SMSCountries(["DE", "AT"]), smsPerHour: 50)
        expected.bindsCodes = true
        #expect(try parse(text) == expected)
    }

    @Test func `own texts are read by language, template and part`() throws {
        let text = """
            {"product":"x","texts":{"de":{"sign_in_code":{"subject":"Code",\
            "body":["{code}","{minutes} Minuten"],"sms":"{code}, {minutes} min"}},\
            "en":{"new_device":{"sms":"New at {time}"}}}}
            """
        let texts = try #require(try parse(text)).texts
        #expect(
            texts == [
                MessagePart(.signInCode, .subject, in: .german): "Code",
                MessagePart(.signInCode, .body, in: .german): "{code}\n\n{minutes} Minuten\n",
                MessagePart(.signInCode, .sms, in: .german): "{code}, {minutes} min",
                MessagePart(.newDevice, .sms, in: .english): "New at {time}",
            ])
    }

    @Test func `the example of own texts in the docs is read`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/messages.md"), encoding: .utf8)
        let member = #"    "messages":"#
        let example = page.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !($0.hasPrefix(member) && $0.contains(#""texts""#)) }
            .prefix { $0.hasPrefix("    ") }.joined(separator: "\n")
        let texts = try #require(try parse(String(example.dropFirst(member.count)))).texts
        let parts: [MessagePart.Kind] = [.subject, .body, .sms]
        #expect(Set(texts.keys) == Set(parts.map { MessagePart(.signInCode, $0, in: .english) }))
    }

    @Test(arguments: [
        (#"{"fr":{}}"#, "fr is an unknown member"),
        (#"{"de":{"sign_in":{}}}"#, "de.sign_in is an unknown member"),
        (
            #"{"de":{"password_reset":{"sms":"{code}"}}}"#,
            "de.password_reset.sms is an unknown member"
        ),
        (
            #"{"de":{"sign_in_code":{"body":"{code}"}}}"#,
            "de.sign_in_code.body must be a list of strings"
        ),
        (
            #"{"de":{"sign_in_code":{"sms":"{minutes}"}}}"#,
            "de.sign_in_code.sms must have {code}"
        ),
        (
            #"{"de":{"sign_in_code":{"subject":"{code}"}}}"#,
            "de.sign_in_code.subject may have no braces but those of {minutes}, {product}"
        ),
        (
            #"{"de":{"sign_in_code":{"subject":"A\r\nBcc: eve@example.org"}}}"#,
            "de.sign_in_code.subject is too long or contains control characters"
        ),
    ])
    func `a wrong own text is refused with its location`(texts: String, line: String) {
        let error = #expect(throws: ProvidersFileFault.self) {
            try parse(#"{"product":"x","texts":\#(texts)}"#)
        }
        #expect(error?.description == "messages.texts.\(line)")
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
