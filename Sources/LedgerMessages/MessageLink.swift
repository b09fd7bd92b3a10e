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
}
