import Ledger
import Testing

@testable import LedgerMessages

/// The limits of what a message may hold.
@Suite struct MessageContentTests {
    @Test(arguments: [
        "", "12 34", "1234\r\nBcc: eve@example.org", "<b>", "{link}", "ä",
        String(repeating: "1", count: 65),
    ])
    func `a code has letters, digits and hyphens only`(code: String) {
        #expect(throws: MessageFault.unacceptable(.code)) {
            try MessageContent.code(.signInCode, code, minutes: 10)
        }
    }

    @Test(arguments: [
        "http://evil.example/", "javascript:alert(1)", "https://", "https://id.example/\n",
        "https://id.example/ x", "http://localhost.evil.example/", "http://127.0.0.1.evil.example/",
    ])
    func `a link is https, or leads to this machine`(link: String) {
        #expect(throws: MessageFault.unacceptable(.link)) {
            try MessageContent.addressKnown(link: link)
        }
    }

    @Test func `values must be those of the template`() {
        #expect(throws: MessageFault.missing(.code)) {
            try MessageContent(.signInCode, [.minutes: "10"])
        }
        #expect(throws: MessageFault.missing(.provider)) {
            try MessageContent.notice(.providerLinked, at: Timestamp(seconds: 0))
        }
        #expect(throws: MessageFault.unacceptable(.provider)) {
            try MessageContent.notice(.newDevice, at: Timestamp(seconds: 0), provider: "Google")
        }
        #expect(throws: MessageFault.unacceptable(.provider)) {
            try MessageContent.notice(
                .providerLinked, at: Timestamp(seconds: 0), provider: "A\u{2028}B")
        }
        #expect(throws: MessageFault.unacceptable(.link)) {
            try MessageContent(
                .signInCode, [.code: "1", .minutes: "5", .link: "https://id.example/"])
        }
    }

    @Test func `the account page is at the tenant's own address, or else at the public one`()
        throws
    {
        let other = try #require(TenantID("acme"))
        let publicURL = "https://id.example/ledger"
        var settings = MessageSettings()
        #expect(settings.accountPage(of: .default, publicURL: nil) == nil)
        #expect(
            settings.accountPage(of: .default, publicURL: publicURL)
                == "https://id.example/ledger/account")
        #expect(
            settings.accountPage(of: other, publicURL: publicURL)
                == "https://id.example/ledger/t/acme/account")
        settings.baseURL = "https://login.acme.example"
        #expect(
            settings.accountPage(of: other, publicURL: publicURL)
                == "https://login.acme.example/account")
        settings.baseURL = "https://" + String(repeating: "a", count: 2_040)
        #expect(settings.accountPage(of: other, publicURL: publicURL) == nil)
    }

    @Test(arguments: [
        ("", MessageChannel.email), ("ada", .email), ("a@b@c", .email), ("a b@c.d", .email),
        ("a@c.d\r\nBcc: eve@example.org", .email), ("<a@c.d>", .email), ("a@c.d,e@c.d", .email),
        ("a@c.d\u{0}", .email), ("49123", .sms), ("+49 123", .sms), ("+", .sms),
        ("+1234567890123456", .sms), ("+49x", .sms),
    ])
    func `a recipient is one address`(text: String, channel: MessageChannel) throws {
        let content = try MessageContent.code(.signInCode, "1", minutes: 10)
        #expect(throws: MessageFault.recipient) {
            try OutgoingMessage(
                id: MessageID(bits: 1), tenant: .default, account: nil, channel: channel,
                to: text, content: content, language: .english, lifetimeSeconds: 600)
        }
    }

    @Test(arguments: [
        "jos\u{E9}@example.org", "\u{43C}\u{430}\u{440}\u{438}\u{44F}@example.org",
        // Its last letter and the sign are one character of Swift.
        "\u{D15}\u{D4E}@example.org",
    ])
    func `addresses outside ASCII are recipients`(address: String) {
        #expect(OutgoingMessage.isRecipient(address, of: .email))
    }

    @Test func `channel and lifetime are limited`() throws {
        let reset = try MessageContent.code(.passwordReset, "1", minutes: 10)
        #expect(throws: MessageFault.channel) {
            try OutgoingMessage(
                id: MessageID(bits: 1), tenant: .default, account: nil, channel: .sms,
                to: "+4915112345678", content: reset, language: .english, lifetimeSeconds: 600)
        }
        for seconds: Int64 in [0, 86_401] {
            #expect(throws: MessageFault.lifetime) {
                try OutgoingMessage(
                    id: MessageID(bits: 1), tenant: .default, account: nil, channel: .email,
                    to: "ada@example.org", content: reset, language: .english,
                    lifetimeSeconds: seconds)
            }
        }
    }

    @Test(arguments: [
        (nil, MessageLanguage.german), ("", .german), ("de", .german), ("en", .english),
        ("de-AT, en;q=0.5", .german), ("en;q=0.5, de;q=0.8", .german),
        ("fr, EN-gb;q=0.3", .english),
        ("en;q=0", .german), ("*;q=0.9, en;q=0.1", .german), ("fr", .german),
        ("en;q=2, ;;, q=", .german), (String(repeating: "en,", count: 500), .german),
    ])
    func `the most wanted language that there is`(list: String?, language: MessageLanguage) {
        #expect(MessageLanguage.wanted(by: list, else: .german) == language)
    }

    @Test func `SMS go only to mobile phones of listed countries`() {
        #expect(!SMSCountries().mayReceive(region: "DE", mayBeMobile: true))
        let listed = SMSCountries(["DE"])
        #expect(listed.mayReceive(region: "DE", mayBeMobile: true))
        #expect(!listed.mayReceive(region: "DE", mayBeMobile: false))
        #expect(!listed.mayReceive(region: "FR", mayBeMobile: true))
    }
}
