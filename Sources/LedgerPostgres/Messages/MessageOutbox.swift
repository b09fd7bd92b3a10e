package import Ledger
package import LedgerEngine
package import LedgerMessages
package import Postgres

/// Writes the codes of challenges to the outbox.
package struct MessageOutbox: CodeOutbox {
    private static let endChallenges = Statement(
        "end_all_challenges", "DELETE FROM challenges WHERE tenant_id = $1")

    private let keyring: WrappingKeyring
    private let settings: @Sendable (TenantID) -> MessageSettings
    private let accountPage: @Sendable (TenantID) -> String?
    private let now: @Sendable () -> Timestamp
    private let random: @Sendable () -> UInt128
    private let dispatcher: MessageDispatcher

    /// Creates an outbox.
    ///
    /// - Parameters:
    ///   - keyring: Encrypts the messages.
    ///   - settings: Returns the configuration of a tenant's messages.
    ///   - accountPage: Returns the link to a tenant's account page.
    ///   - now: Returns the time.
    ///   - random: Returns unpredictable bits for ids.
    ///   - dispatcher: Sends the messages.
    package init(
        keyring: WrappingKeyring, settings: @escaping @Sendable (TenantID) -> MessageSettings,
        accountPage: @escaping @Sendable (TenantID) -> String?,
        now: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> UInt128,
        dispatcher: MessageDispatcher
    ) {
        self.keyring = keyring
        self.settings = settings
        self.accountPage = accountPage
        self.now = now
        self.random = random
        self.dispatcher = dispatcher
    }

    /// Returns the call that ends every challenge of a tenant, because a restore brings back used ones.
    package static func endingChallenges(of tenant: TenantID) -> Call {
        Call(endChallenges, [.text(tenant.description)])
    }

    /// Wakes the dispatcher.
    package func committed() {
        dispatcher.wake()
    }

    /// Writes the message of a challenge.
    package func write(
        _ message: CodeMessage, for challenge: StoredChallenge, on connection: Connection
    ) throws {
        let template = message.purpose.template
        let content =
            template.hasCode
            ? try MessageContent.code(
                template, message.code, minutes: Int(StoredChallenge.lifetimeSeconds / 60))
            : try MessageContent.addressKnown(link: accountPage(challenge.tenant))
        let outgoing = try OutgoingMessage(
            id: MessageID(at: now(), random: random()), tenant: challenge.tenant,
            account: message.account,
            channel: challenge.name.kind.channel, to: challenge.address, content: content,
            language: .wanted(
                by: message.language, else: settings(challenge.tenant).language),
            lifetimeSeconds: StoredChallenge.lifetimeSeconds)
        try MessageWrites.insert([outgoing], keyring: keyring, on: connection)
        guard !message.isSent else { return }
        _ = try connection.pipeline([
            MessageWrites.withdrawing([outgoing.id], of: challenge.tenant)
        ])
    }
}

extension CodeMessage.Purpose {
    fileprivate var template: MessageTemplate {
        switch self {
        case .signIn: .signInCode
        case .link: .linkCode
        case .merge: .mergeCode
        case .signUp: .signUpCode
        case .reset: .passwordReset
        case .secondFactor: .secondFactorCode
        case .address: .confirmAddress
        case .addressKnown: .addressKnown
        }
    }
}

extension AddressKind {
    fileprivate var channel: MessageChannel {
        switch self {
        case .email: .email
        case .phone: .sms
        }
    }
}
