internal import Cryptography
internal import Encodings
internal import JSON
package import Ledger
package import LedgerMessages

/// The form of a message in the `messages` table.
package struct SealedMessage: Sendable {
    /// The name of the key that encrypts the recipient and the values.
    package let wrappingKey: String
    package let sealed: [UInt8]
    /// The digest by which messages to a recipient are found.
    package let recipient: KeyedDigest
}

/// A message that was read from the outbox, with its content.
package struct OpenedMessage: Hashable, Sendable {
    package let recipient: String
    package let content: MessageContent

    /// Combines a recipient and the content for them.
    package init(recipient: String, content: MessageContent) {
        self.recipient = recipient
        self.content = content
    }
}

extension WrappingKeyring {
    private static let messageContext = "message:"
    private static let recipientLabel = "account-ledger message recipient"

    /// Encrypts a message, bound to tenant, id, channel, template and language; nil without a key.
    package func seal(_ message: OutgoingMessage) -> SealedMessage? {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("to", message.recipient)
            writer.name("values")
            writer.object(
                Dictionary(
                    uniqueKeysWithValues: message.content.values.map { ($0.rawValue, $1) }))
        }
        let additional = Self.additional(
            message.tenant, message.id, message.channel, message.content.template,
            message.language)
        guard let sealed = seal(writer.bytes, additional: additional),
            let digest = recipientDigest(
                of: message.recipient, by: message.channel, in: message.tenant)
        else { return nil }
        return SealedMessage(
            wrappingKey: sealed.wrappingKey, sealed: sealed.wrapped, recipient: digest)
    }

    /// Decrypts a message; nil if the key is unknown or anything was changed.
    package func open(
        _ sealed: [UInt8], wrappingKey: String, tenant: TenantID, id: MessageID,
        channel: MessageChannel, template: MessageTemplate, language: MessageLanguage
    ) -> OpenedMessage? {
        let additional = Self.additional(tenant, id, channel, template, language)
        guard let bytes = open(sealed, wrappingKey: wrappingKey, additional: additional),
            let members = JSONValue(parsing: bytes)?.members,
            let recipient = members["to"]?.string, let stored = members["values"]?.members,
            OutgoingMessage.isRecipient(recipient, of: channel)
        else { return nil }
        var values: [MessagePlaceholder: String] = [:]
        for (name, value) in stored {
            guard let placeholder = MessagePlaceholder(rawValue: name) else { return nil }
            values[placeholder] = value.string
        }
        guard let content = try? MessageContent(template, values) else { return nil }
        return OpenedMessage(recipient: recipient, content: content)
    }

    /// Returns the digest of a recipient by the key in use, with those by the other keys; nil without a key.
    package func recipientDigest(
        of recipient: String, by channel: MessageChannel, in tenant: TenantID
    ) -> KeyedDigest? {
        let input = Array("\(tenant)/\(channel.rawValue)/\(recipient)".utf8)
        let (current, keys) = secrets
        let names = [current] + keys.keys.filter { $0 != current }.sorted()
        let forms: [KeyedDigest] = names.compactMap { name in
            guard let secret = keys[name] else { return nil }
            let key = HKDFSHA256.key(from: secret, label: Self.recipientLabel)
            return Digest(HMACKey(key).mac(of: input)).map { KeyedDigest($0, key: name) }
        }
        guard let first = forms.first, first.key == current else { return nil }
        return KeyedDigest(first.digest, key: first.key, former: Array(forms.dropFirst()))
    }

    private static func additional(
        _ tenant: TenantID, _ id: MessageID, _ channel: MessageChannel,
        _ template: MessageTemplate, _ language: MessageLanguage
    ) -> [UInt8] {
        let names = [channel.rawValue, template.rawValue, language.rawValue]
        return Array("\(messageContext)\(tenant)/\(id)/\(names.joined(separator: "/"))".utf8)
    }
}
