import Ledger
import Testing

@testable import LedgerMessages

/// The last line of an SMS by which browsers know its code and the page it is for.
@Suite struct BoundCodeTests {
    private static let page = "https://id.example/t/acme/account"

    private func text(
        _ template: MessageTemplate = .signInCode, page: String? = page, own: String? = nil,
        binds: Bool = true, by channel: MessageChannel = .sms
    ) throws -> String {
        var settings = MessageSettings(product: "Shop")
        settings.bindsCodes = binds
        settings.texts[MessagePart(template, .sms, in: .english)] = own
        let content =
            template.hasCode
            ? try MessageContent.code(template, "493021", minutes: 10)
            : try MessageContent.notice(template, at: Timestamp(seconds: 0))
        return content.text(for: channel, in: .english, by: settings, accountPage: page).body
    }

    @Test func `every SMS with a code ends with the host and the code`() throws {
        for template in MessageTemplate.allCases
        where template.hasCode && template.channels.contains(.sms) {
            let plain = try text(template, binds: false)
            #expect(!plain.contains("@"))
            #expect(try text(template) == plain + "\n@id.example #493021", "\(template)")
        }
        #expect(
            try text(own: "{code} for {minutes} min") == "493021 for 10 min\n@id.example #493021")
    }

    @Test func `no other message has the line`() throws {
        #expect(try !text(.newDevice).contains("@"))
        #expect(try text(by: .email) == text(binds: false, by: .email))
        #expect(try text(page: nil) == text(binds: false))
    }

    @Test(arguments: [
        ("https://id.example/account", "id.example"), ("https://ID.Example", "id.example"),
        ("https://id.example:8443/account", "id.example"),
        ("https://xn--bcher-kva.example?x", "xn--bcher-kva.example"),
        ("https://user@id.example/account", nil), ("https://evil:x@id.example/account", nil),
        ("https://192.0.2.1/account", nil), ("https://[::1]/account", nil),
        ("https://id.example./account", nil), ("http://localhost:8080/account", nil),
        ("https:///account", nil), ("https://id_x.example/account", nil),
    ])
    func `the host is that of a page over TLS, without its port`(link: String, host: String?) {
        #expect(MessageLink.host(of: link) == host)
    }

    @Test func `a text that would need a fourth SMS stays without the line`() throws {
        let line = "\n@id.example #493021"
        let fixed = "493021 10 ".count
        for (letter, room) in [("x", 459), ("ł", 201)] {
            let fill = String(repeating: letter, count: room - fixed - line.count)
            #expect(try text(own: "{code} {minutes} " + fill).hasSuffix(line), "\(letter)")
            let long = try text(own: "{code} {minutes} " + fill + letter)
            #expect(!long.contains("@"), "\(letter)")
        }
    }

    @Test func `a line break takes one place of an SMS`() {
        let full = String(repeating: "a", count: 159) + "\n"
        #expect(SMSSegments.count(of: full) == 1)
        #expect(SMSSegments.count(of: full + "a") == 2)
    }
}
