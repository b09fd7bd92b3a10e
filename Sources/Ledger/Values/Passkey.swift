extension NewPassword {
    /// Describes the key of a passkey with its counter.
    ///
    /// The stored text begins with the counter, which no text of a password's hash does.
    package init(passkey text: String, count: UInt32) {
        self.init(hash: "\(count) \(text)")
    }

    /// The counter of a passkey; nil for a password.
    package var passkeyCount: UInt32? { Self.passkey(hash)?.count }

    /// Reads a stored text; nil for that of a password.
    package static func passkey(_ stored: String) -> (count: UInt32, text: Substring)? {
        let parts = stored.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, let count = UInt32(Substring(parts[0])) else { return nil }
        return (count, Substring(parts[1]))
    }
}
