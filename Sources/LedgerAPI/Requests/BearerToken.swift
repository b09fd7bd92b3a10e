internal import HTTP

/// The access token of the `Authorization` field (RFC 6750, section 2.1).
enum BearerToken {
    /// Reads the token without checking it.
    ///
    /// - Throws: `accessTokenMissing` without a field or with another scheme; `accessTokenInvalid`
    ///   with several fields, since proxies differ in which one they use, or unless exactly one
    ///   word follows the scheme.
    static func read(_ headers: HTTPHeaders) throws(APIError) -> String {
        guard headers.count(of: field) < 2 else { throw .accessTokenInvalid }
        if let token = headers.bytes(field).flatMap(usual) { return token }
        // By bytes: a token is long, and iterating over its characters costs more than looking it
        // up.
        let words = (headers.values(field).first ?? "").utf8.split(separator: space)
        guard let scheme = words.first.map(Substring.init), scheme.lowercased() == "bearer" else {
            throw .accessTokenMissing
        }
        guard words.count == 2 else { throw .accessTokenInvalid }
        return String(Substring(words[1]))
    }

    private static let field = "Authorization"
    private static let space = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")

    /// Returns the token in the form that nearly every client sends: the scheme, one space and one
    /// word.
    private static func usual(_ value: ArraySlice<UInt8>) -> String? {
        let scheme = "Bearer ".utf8
        guard value.starts(with: scheme) else { return nil }
        let token = value.dropFirst(scheme.count)
        guard let last = token.last, last != tab, !token.span.holds(space) else { return nil }
        return String(decoding: token, as: UTF8.self)
    }
}
