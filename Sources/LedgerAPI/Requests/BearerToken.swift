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
        if value.utf8.starts(with: usual.utf8) {
            let token = value.utf8.dropFirst(usual.utf8.count)
            let isOneWord = !token.isEmpty && token.firstIndex(of: UInt8(ascii: " ")) == nil
            if isOneWord { return String(Substring(token)) }
        }
        // By bytes: a token is long, and walking it by characters costs more than looking it up.
        let words = value.utf8.split(separator: UInt8(ascii: " "))
        guard let scheme = words.first.map(Substring.init), scheme.lowercased() == "bearer" else {
            throw .accessTokenMissing
        }
        guard words.count == 2 else { throw .accessTokenInvalid }
        return String(Substring(words[1]))
    }
}
