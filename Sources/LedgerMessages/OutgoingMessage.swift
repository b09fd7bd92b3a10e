package import Ledger

/// A message to one recipient, before it is written to the outbox.
package struct OutgoingMessage: Hashable, Sendable {
    /// The longest time, in seconds, for which a message is kept before it is sent.
    package static let lifetimeMax: Int64 = 86_400

    package let id: MessageID
    package let tenant: TenantID
    /// The account whose erasure deletes it; nil before there is one.
    package let account: AccountID?
    package let channel: MessageChannel
    /// The canonical e-mail address, or the phone number in E.164: never a text that was only typed.
    package let recipient: String
    package let content: MessageContent
    package let language: MessageLanguage
    /// After so many seconds it is worthless and is not sent.
    package let lifetimeSeconds: Int64

    /// Describes a message.
    ///
    /// - Parameters:
    ///   - id: A new id.
    ///   - tenant: The tenant.
    ///   - account: The account that it is about; nil when none is known.
    ///   - channel: The channel.
    ///   - recipient: The canonical address.
    ///   - content: The template and its values.
    ///   - language: The language.
    ///   - lifetimeSeconds: The validity of its code; at most a day.
    /// - Throws: the reason why it cannot be sent.
    package init(
        id: MessageID, tenant: TenantID, account: AccountID?, channel: MessageChannel,
        to recipient: String, content: MessageContent, language: MessageLanguage,
        lifetimeSeconds: Int64
    ) throws(MessageFault) {
        guard content.template.channels.contains(channel) else { throw .channel }
        guard Self.isRecipient(recipient, of: channel) else { throw .recipient }
        guard (1...Self.lifetimeMax).contains(lifetimeSeconds) else { throw .lifetime }
        self.id = id
        self.tenant = tenant
        self.account = account
        self.channel = channel
        self.recipient = recipient
        self.content = content
        self.language = language
        self.lifetimeSeconds = lifetimeSeconds
    }

    /// Checks what a header or a protocol line could not carry: the canonical forms are stricter.
    package static func isRecipient(_ text: String, of channel: MessageChannel) -> Bool {
        switch channel {
        case .email:
            guard (3...254).contains(text.utf8.count) else { return false }
            // Some letters are one character with a sign after them.
            let parts = text.utf8.split(
                separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
            return parts.count == 2 && !parts.contains(where: \.isEmpty)
                && text.unicodeScalars.allSatisfy { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
                        .surrogate:
                        false
                    default: !"<>()[],;:\\\"".unicodeScalars.contains(scalar)
                    }
                }
        case .sms:
            return text.first == "+" && (3...16).contains(text.utf8.count)
                && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
