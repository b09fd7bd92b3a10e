internal import HTTP

/// The `Ledger-Reason` field: why a person asks for personal data, or for a change from outside.
enum ReasonHeader {
    /// The longest reason, in characters.
    static let charactersMax = 255
    static let name = "Ledger-Reason"

    /// Reads the reason; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` unless it is one field of 1 to 255 printable ASCII characters.
    static func read(_ headers: HTTPHeaders) throws(APIError) -> String? {
        let values = headers.values(name)
        guard let reason = values.first else { return nil }
        let isPrintable = reason.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        guard values.count == 1, (1...charactersMax).contains(reason.utf8.count), isPrintable
        else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(name) must be one field of 1 to \(charactersMax) printable characters",
                    at: .header(name)))
        }
        return reason
    }
}
