import CommandLine
import Foundation
import HTTPClient
import Ledger
import LedgerChannels
import LedgerEngine
import LedgerMessages
import StandardWebhooks

/// The channels of messages, from the environment.
struct MessagingSetup: Sendable {
    /// The way in which SMS are sent.
    enum SMS: Sendable {
        case hook(url: String, WebhookSecret)
        case twilio(url: String, account: String, token: String, sender: String)
    }

    /// The settings that it is read from.
    static let settings: [Setting] = [
        .publicURL, .smtpURL, .smtpUser, .smtpPassword, .smtpPasswordFile, .mailFrom, .smsHookURL,
        .smsHookSecretFile, .twilioAccount, .twilioTokenFile, .twilioURL, .smsFrom,
    ]

    let mode: LedgerOpened.Mode
    /// The beginning of links; nil when it is not set.
    let publicURL: String?
    let mail: (server: MailServer, sender: Mailbox)?
    let sms: SMS?

    /// Reads the channels.
    ///
    /// - Throws: `Fault` with one line that names the invalid variable.
    init(_ environment: Environment, mode: LedgerOpened.Mode) throws(Fault) {
        self.mode = mode
        publicURL =
            try environment.given(.publicURL) == nil
            ? nil
            : environment.value(
                .publicURL, wants: "an https URL without a slash at its end, query or fragment"
            ) { text in
                MessageLink.isAcceptable(text) && !text.hasSuffix("/") && !text.contains("?")
                    && !text.contains("#") ? text : nil
            }
        mail = try Self.mail(environment)
        sms = try Self.sms(environment)
    }

    /// Whether e-mails leave this process.
    var sendsMail: Bool { mail != nil }

    /// Whether SMS leave this process.
    var sendsSMS: Bool { sms != nil }

    /// Checks that a tenant whose configuration needs a channel has it; the development mode keeps messages
    /// at its own page instead.
    ///
    /// - Throws: `Fault` that names the tenant and the missing setting.
    func require(_ channel: MessageChannel, for tenant: TenantID) throws(Fault) {
        guard mode == .production else { return }
        switch channel {
        case .email:
            guard sendsMail else {
                throw Fault(
                    "tenant \(tenant) needs e-mail, but \(Setting.smtpURL.name) is not set:"
                        + " \(Setting.smtpURL.meaning)")
            }
        case .sms:
            guard sendsSMS else {
                throw Fault(
                    "tenant \(tenant) needs SMS, but neither \(Setting.smsHookURL.name) nor"
                        + " \(Setting.twilioAccount.name) is set")
            }
        }
    }

    /// Returns the transport of each configured channel; in development of every channel, with its outbox.
    func transports() -> (all: [MessageChannel: any MessageTransport], kept: [DevelopmentOutbox]) {
        var transports: [MessageChannel: any MessageTransport] = [:]
        if let mail {
            transports[.email] = SMTPTransport(mail.server, from: mail.sender, now: { .now })
        }
        switch sms {
        case .hook(let url, let secret):
            transports[.sms] = HookTransport(url: url, secret: secret, now: { .now })
        case .twilio(let url, let account, let token, let sender):
            transports[.sms] = TwilioTransport(
                base: url, account: account, token: token, from: sender)
        case nil: break
        }
        guard mode == .development else { return (transports, []) }
        let kept = MessageChannel.allCases.map { ($0, DevelopmentOutbox(to: transports[$0])) }
        return (Dictionary(uniqueKeysWithValues: kept), kept.map(\.1))
    }

    private static func mail(
        _ environment: Environment
    ) throws(Fault) -> (server: MailServer, sender: Mailbox)? {
        guard environment.given(.smtpURL) != nil else { return nil }
        let sender = try environment.value(
            .mailFrom, wants: "an address, or a name and an address in angle brackets",
            Mailbox.init)
        let user = environment.given(.smtpUser)
        let password =
            try secret(.smtpPasswordFile, environment) ?? environment.given(.smtpPassword)
        guard (user == nil) == (password == nil) else {
            throw Fault(
                "\(Setting.smtpUser.name) needs \(Setting.smtpPasswordFile.name) or"
                    + " \(Setting.smtpPassword.name), and they need it")
        }
        let server = try environment.value(
            .smtpURL, wants: "smtps://host:port or smtp://host:port, without user and password"
        ) { MailServer($0, user: user, password: password) }
        return (server, sender)
    }

    private static func sms(_ environment: Environment) throws(Fault) -> SMS? {
        switch (environment.given(.smsHookURL), environment.given(.twilioAccount)) {
        case (nil, nil): return nil
        case (_?, _?):
            throw Fault(
                "\(Setting.smsHookURL.name) and \(Setting.twilioAccount.name) exclude each other")
        case (_?, nil):
            let url = try address(.smsHookURL, environment)
            guard let text = try secret(.smsHookSecretFile, environment),
                let secret = WebhookSecret(text: text)
            else {
                throw Fault(
                    "\(Setting.smsHookSecretFile.name) must name a file with whsec_ and a secret")
            }
            return .hook(url: url, secret)
        case (nil, let account?):
            let sender = try environment.required(.smsFrom)
            guard let token = try secret(.twilioTokenFile, environment) else {
                throw Fault(
                    "\(Setting.twilioTokenFile.name) is not set: \(Setting.twilioTokenFile.meaning)"
                )
            }
            return .twilio(
                url: try address(.twilioURL, environment), account: account, token: token,
                sender: sender)
        }
    }

    /// Returns an `https` URL, or `http` to this machine, that holds no secret.
    private static func address(
        _ setting: Setting, _ environment: Environment
    ) throws(Fault) -> String {
        try environment.value(setting, wants: "an https URL without user and fragment") { text in
            guard (try? WebhookAddress(text)) != nil, !text.hasSuffix("/") else { return nil }
            return text
        }
    }

    /// Returns the content of a file without the line break at its end; nil when the setting is unset.
    private static func secret(
        _ setting: Setting, _ environment: Environment
    ) throws(Fault) -> String? {
        try environment.given(setting).map { path throws(Fault) in
            try SecretFile.text(path: path, of: setting.name)
        }
    }
}
