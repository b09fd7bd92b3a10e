internal import HTTP

/// The access token of the `Authorization` field (RFC 6750, section 2.1).
enum BearerToken {
    /// Reads the token; nothing has been checked of it.
    ///
    /// - Throws: `accessTokenMissing` without a field or with another scheme; `accessTokenInvalid`
    ///   with several fields, since proxies differ in which one they look at, or without one word
    ///   after it.
    static func read(_ headers: HTTPHeaders) throws(APIError) -> String {
        let values = headers.values("Authorization")
        guard values.count < 2 else { throw .accessTokenInvalid }
        let value = values.first ?? ""
        // What nearly every client sends: the scheme, one space and the token.
        let usual = "Bearer "
        if value.utf8.starts(with: usual.utf8), isOneWord(value, from: usual.utf8.count) {
            return String(Substring(value.utf8.dropFirst(usual.utf8.count)))
        }
        // By bytes: a token is long, and walking it by characters costs more than looking it up.
        let words = value.utf8.split(separator: UInt8(ascii: " "))
        guard let scheme = words.first.map(Substring.init), scheme.lowercased() == "bearer" else {
            throw .accessTokenMissing
        }
        guard words.count == 2 else { throw .accessTokenInvalid }
        return String(Substring(words[1]))
    }

    /// Whether there is something from this byte on, and no space in it.
    private static func isOneWord(_ text: String, from start: Int) -> Bool {
        let bytes = text.utf8.span
        guard start < bytes.count else { return false }
        for index in start..<bytes.count where bytes[index] == UInt8(ascii: " ") { return false }
        return true
    }
}
