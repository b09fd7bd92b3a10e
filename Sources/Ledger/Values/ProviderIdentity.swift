/// One subject at one provider: what an ID token proves.
package struct ProviderIdentity: Hashable, Sendable {
    /// The longest subject that is taken, in UTF-8 bytes (OpenID Connect Core, section 2: 255).
    package static let providerIDBytesMax = 255

    package let provider: ProviderName
    /// The provider's own name for the subject: personal data, never part of an entry or a log line.
    package let providerID: String

    /// Names a subject; nil when the subject is empty, too long or holds control characters.
    package init?(provider: ProviderName, providerID: String) {
        let bytes = providerID.utf8
        guard !bytes.isEmpty, bytes.count <= Self.providerIDBytesMax,
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.provider = provider
        self.providerID = providerID
    }

    /// Subjects are bytes to a provider: two that Unicode calls equivalent are two subjects.
    package static func == (left: Self, right: Self) -> Bool {
        left.provider == right.provider
            && left.providerID.utf8.elementsEqual(right.providerID.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        // What is equal has the same bytes and so is the same text, whose bytes are hashed at once.
        hasher.combine(providerID)
    }
}
