extension [ProviderName: AuthenticationMethods] {
    private static var separator: Character { ";" }

    /// The form in entries: `NAME METHOD ...` for each provider, sorted and parted by semicolons.
    package var entryText: String {
        sorted { $0.key < $1.key }.map { name, methods in "\(name) \(methods)" }
            .joined(separator: String(Self.separator))
    }

    /// Reads the form in entries; nil for any other text, and for none.
    init?(entryText text: String) {
        self = [:]
        for part in text.split(separator: Self.separator) {
            let words = part.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let name = ProviderName(String(words[0])),
                let methods = AuthenticationMethods(String(words[1]))
            else { return nil }
            self[name] = methods
        }
        guard !isEmpty, entryText == text else { return nil }
    }
}

extension Set<ProviderName> {
    /// The form in entries: the names, sorted and parted by spaces.
    package var entryText: String { sorted().map(\.description).joined(separator: " ") }

    /// Reads the form in entries; nil for any other text, and for none.
    init?(entryText text: String) {
        self = Set(text.split(separator: " ").compactMap { ProviderName(String($0)) })
        guard !isEmpty, entryText == text else { return nil }
    }
}
