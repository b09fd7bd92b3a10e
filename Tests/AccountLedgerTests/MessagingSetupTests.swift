import CommandLine
import Foundation
import Ledger
import LedgerMessages
import StandardWebhooks
import Testing

@testable import account_ledger

/// The channels of messages, as the environment configures them.
@Suite struct MessagingSetupTests {
    private func setup(
        _ variables: [String: String], mode: LedgerOpened.Mode = .production
    ) throws -> MessagingSetup {
        try MessagingSetup(Environment(variables), mode: mode)
    }

    /// Returns a file with this content.
    private func file(_ text: String) throws -> String {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "messaging-\(UUID().uuidString)")
        try text.write(to: url, atomically: true, encoding: .utf8)
        return url.path(percentEncoded: false)
    }

    @Test func `without settings there is no channel, and a tenant that needs one is told`() throws
    {
        let none = try setup([:])
        #expect(none.transports().all.isEmpty)
        let error = #expect(throws: Fault.self) { try none.require(.email, for: .default) }
        #expect(try #require(error).description.contains("LEDGER_SMTP_URL"))
        #expect(throws: Fault.self) { try none.require(.sms, for: .default) }
        let development = try setup([:], mode: .development)
        #expect(throws: Never.self) { try development.require(.email, for: .default) }
        #expect(development.transports().kept.count == 2)
    }

    @Test func `mail and SMS can be configured`() throws {
        let secret = WebhookSecret.generate().text
        let both = try setup([
            "LEDGER_SMTP_URL": "smtps://mail.example:465", "LEDGER_MAIL_FROM": "A <a@b.example>",
            "LEDGER_SMTP_USER": "ledger", "LEDGER_SMTP_PASSWORD_FILE": try file("secret\n"),
            "LEDGER_SMS_HOOK_URL": "https://hook.example/sms",
            "LEDGER_SMS_HOOK_SECRET_FILE": try file(secret + "\n"),
            "LEDGER_PUBLIC_URL": "https://id.example/accounts",
        ])
        #expect(Set(both.transports().all.keys) == [.email, .sms])
        #expect(both.transports().kept.isEmpty)
        #expect(both.publicURL == "https://id.example/accounts")
        #expect(throws: Never.self) { try both.require(.email, for: .default) }
        let preset = try setup([
            "LEDGER_TWILIO_ACCOUNT": "AC1", "LEDGER_TWILIO_TOKEN_FILE": try file("token"),
            "LEDGER_SMS_FROM": "+4930123456",
        ])
        #expect(Set(preset.transports().all.keys) == [.sms])
    }

    @Test(arguments: [
        (["LEDGER_SMTP_URL": "smtp://a.example"], "LEDGER_MAIL_FROM"),
        (["LEDGER_SMTP_URL": "http://a.example", "LEDGER_MAIL_FROM": "a@b.c"], "LEDGER_SMTP_URL"),
        (
            ["LEDGER_SMTP_URL": "smtp://u:p@a.example", "LEDGER_MAIL_FROM": "a@b.c"],
            "LEDGER_SMTP_URL"
        ),
        (["LEDGER_SMTP_URL": "smtp://a.example", "LEDGER_MAIL_FROM": "a"], "LEDGER_MAIL_FROM"),
        (
            [
                "LEDGER_SMTP_URL": "smtp://a.example", "LEDGER_MAIL_FROM": "a@b.c",
                "LEDGER_SMTP_USER": "u",
            ], "LEDGER_SMTP_PASSWORD"
        ),
        (["LEDGER_SMS_HOOK_URL": "https://h.example/"], "LEDGER_SMS_HOOK_URL"),
        (["LEDGER_SMS_HOOK_URL": "http://h.example/sms"], "LEDGER_SMS_HOOK_URL"),
        (["LEDGER_SMS_HOOK_URL": "https://h.example/sms"], "LEDGER_SMS_HOOK_SECRET_FILE"),
        (
            [
                "LEDGER_SMS_HOOK_URL": "https://h.example/sms",
                "LEDGER_SMS_HOOK_SECRET_FILE": "/nowhere",
            ], "LEDGER_SMS_HOOK_SECRET_FILE"
        ),
        (
            ["LEDGER_SMS_HOOK_URL": "https://h.example/sms", "LEDGER_TWILIO_ACCOUNT": "AC1"],
            "LEDGER_TWILIO_ACCOUNT"
        ),
        (["LEDGER_TWILIO_ACCOUNT": "AC1"], "LEDGER_SMS_FROM"),
        (["LEDGER_PUBLIC_URL": "https://id.example/"], "LEDGER_PUBLIC_URL"),
        (["LEDGER_PUBLIC_URL": "http://id.example"], "LEDGER_PUBLIC_URL"),
    ])
    func `a wrong value is refused and named`(variables: [String: String], name: String) throws {
        let error = #expect(throws: Fault.self) { try setup(variables) }
        #expect(try #require(error).description.contains(name))
    }
}
