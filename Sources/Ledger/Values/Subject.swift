/// One subject at one provider: the result of a valid ID token.
package struct Subject: Hashable, Sendable {
    /// The maximum length of a subject, in UTF-8 bytes (OpenID Connect Core, section 2: 255).
    package static let providerIDBytesMax = 255

    package let provider: ProviderName
    /// The provider's own name for the subject: personal data, never part of an entry or a log line.
    package let providerID: String

    /// Creates the pair; nil when the subject is empty, too long or contains control characters.
    package init?(provider: ProviderName, providerID: String) {
        let bytes = providerID.utf8
        guard !bytes.isEmpty, bytes.count <= Self.providerIDBytesMax,
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.provider = provider
        self.providerID = providerID
    }

    /// Compares bytes: subjects that Unicode calls equivalent are different to a provider.
    package static func == (left: Self, right: Self) -> Bool {
        left.provider == right.provider
            && left.providerID.utf8.elementsEqual(right.providerID.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        // Equal values have the same bytes, hence the same string, whose bytes are hashed at once.
        hasher.combine(providerID)
    }
}
