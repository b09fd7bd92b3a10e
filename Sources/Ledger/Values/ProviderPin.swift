/// The type and the issuers of a provider's name: another issuer under the same name would inherit all
/// its accounts.
package struct ProviderPin: Hashable, Sendable {
    package let type: ProviderType
    /// The accepted issuers, sorted, without duplicates and empty ones.
    ///
    /// The tenant of an issuer is part of its name, or the place of one is, where the subjects name the tenant.
    package let issuers: [String]

    /// Describes a provider.
    package init(type: ProviderType, issuers: some Sequence<String>) {
        self.type = type
        self.issuers = Set(issuers).subtracting([""]).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }
}

extension [ProviderName: ProviderPin] {
    private static var separator: Character { ";" }

    /// The form in entries: `NAME TYPE ISSUER ...` for each provider, sorted and parted by semicolons.
    ///
    /// An issuer's bytes that an entry can't hold or that part its fields are percent-encoded.
    var entryText: String {
        sorted { $0.key < $1.key }.map { name, pin in
            ([name.description, pin.type.rawValue] + pin.issuers.map(Self.encode))
                .joined(separator: " ")
        }.joined(separator: String(Self.separator))
    }

    /// Reads the form in entries; nil for any other text.
    init?(entryText text: String) {
        self = [:]
        for part in text.split(separator: Self.separator) {
            let words = part.split(separator: " ")
            guard words.count >= 2, let name = ProviderName(String(words[0])),
                let type = ProviderType(rawValue: String(words[1]))
            else { return nil }
            var issuers: [String] = []
            for word in words.dropFirst(2) {
                guard let issuer = Self.decode(word) else { return nil }
                issuers.append(issuer)
            }
            self[name] = ProviderPin(type: type, issuers: issuers)
        }
        guard entryText == text else { return nil }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"\\%;".utf8.contains(byte)
    }

    private static func encode(_ issuer: String) -> String {
        issuer.utf8.map { byte in
            isPlain(byte)
                ? String(Unicode.Scalar(byte))
                : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    private static func decode(_ word: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = word.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
