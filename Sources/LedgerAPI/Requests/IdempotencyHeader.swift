internal import Cryptography
internal import HTTP
internal import Ledger

/// The `Idempotency-Key` field: a name that a client gives to a request, so that repeating it is
/// safe.
enum IdempotencyHeader {
    /// The longest key, in characters.
    static let charactersMax = 255
    private static let name = "Idempotency-Key"

    /// Reads the key; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` unless it is one field of 1 to 255 printable ASCII characters.
    static func read(_ headers: HTTPHeaders) throws(APIError) -> String? {
        let values = headers.values(name)
        guard let key = values.first else { return nil }
        let isPrintable = key.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        let length = key.utf8.count
        guard values.count == 1, (1...charactersMax).contains(length), isPrintable else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(name) must be one field of 1 to \(charactersMax) printable characters",
                    at: .header(name)))
        }
        return key
    }

    /// Makes what the ledger knows a key by.
    ///
    /// The scope is one account, method and path; the path is the one without the tenant's prefix,
    /// because a key lives inside its tenant anyway. Of a principal it is its own scope as well, so that
    /// two who work on one case do not get each other's answers. The content is what must be the same
    /// when the key comes again.
    static func key(
        _ key: String, of account: AccountID, by principal: Principal? = nil, method: String,
        path: String, content: [UInt8]
    ) -> IdempotencyKey? {
        let parts = [method, path, key, principal?.key.description].compactMap(\.self)
        let scope = Array(parts.joined(separator: "\0").utf8)
        guard let digest = Digest(SHA256.hash(scope)), let print = Digest(SHA256.hash(content))
        else { return nil }
        return IdempotencyKey(
            scope: IdempotencyScope(account: account, digest: digest), fingerprint: print)
    }
}
