/// Links in messages.
package enum MessageLink {
    /// Checks for printable ASCII that begins with `https://`, or with `http://` and this machine.
    package static func isAcceptable(_ text: String) -> Bool {
        guard
            text.utf8.allSatisfy({
                (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E
            })
        else { return false }
        if text.hasPrefix("https://") { return text.utf8.count > 8 }
        return ["127.0.0.1", "localhost", "[::1]"].contains { host in
            let start = "http://" + host
            let next = text.dropFirst(start.count).first
            return text.hasPrefix(start) && (next == nil || ":/#?".contains(next ?? "/"))
        }
    }

    /// Returns the host of an `https` link; nil for one that names a user or the address of a machine.
    static func host(of link: String) -> String? {
        guard link.hasPrefix("https://") else { return nil }
        let authority = link.dropFirst(8).prefix { !"/?#".contains($0) }.lowercased()
        let labels = authority.prefix { $0 != ":" }
            .split(separator: ".", omittingEmptySubsequences: false)
        guard let first = labels.last?.first, first.isLetter, !labels.contains(""),
            authority.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            })
        else { return nil }
        return labels.joined(separator: ".")
    }
}
