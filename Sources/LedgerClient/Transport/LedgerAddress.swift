public import Foundation

/// The address of a ledger, and the tenant there.
public struct LedgerAddress: Hashable, Sendable {
    /// The beginning of every path, without a slash at its end.
    let base: String

    /// Checks an address, such as `https://ledger.example`.
    ///
    /// It needs HTTPS, except on this machine, since requests carry tokens.
    ///
    /// - Parameters:
    ///   - url: The address, without user, query and fragment.
    ///   - tenant: The name of the tenant; nil for `default`.
    /// - Throws: ``LedgerError/Code/invalidRequest``.
    public init(_ url: URL, tenant: String? = nil) throws(LedgerError) {
        let isLoopback = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host() ?? "")
        guard url.scheme == "https" || (url.scheme == "http" && isLoopback), url.host() != nil,
            url.user() == nil, url.query() == nil, url.fragment() == nil
        else {
            throw LedgerError(
                .invalidRequest,
                message: "The address of the ledger must be https:// without user and query")
        }
        let text = url.absoluteString
        let trimmed = String(text.reversed().drop { $0 == "/" }.reversed())
        base =
            try trimmed
            + (tenant.map { name throws(LedgerError) in
                try "/t/" + Self.segment(name)
            } ?? "")
    }

    /// Returns a segment of a path, which "." and ".." cannot be, however they are encoded.
    static func segment(_ text: String) throws(LedgerError) -> String {
        let allowed = CharacterSet(
            charactersIn:
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        guard text != ".", text != "..", !text.isEmpty,
            let encoded = text.addingPercentEncoding(withAllowedCharacters: allowed)
        else {
            throw LedgerError(.invalidRequest, message: "A name or an id is empty, . or ..")
        }
        return encoded
    }
}
