internal import Cryptography
internal import Encodings
internal import JSON

/// Signs records that clients hold, so that nothing is stored: base64url of JSON, a dot, and its MAC.
struct SignedRecords: Sendable {
    private let key: HMACKey
    private let domain: [UInt8]

    /// Signs with a key; records of another domain are not accepted.
    init(key: SymmetricKey, domain: String) {
        self.key = HMACKey(key)
        self.domain = Array("\(domain)\0".utf8)
    }

    /// Returns the text of a record.
    func sign(_ members: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(members)
        return Base64URL.encode(writer.bytes) + "."
            + Base64URL.encode(key.mac(of: domain + writer.bytes))
    }

    /// Returns the members of a signed record; nil for another text.
    func read(_ text: String) -> JSONMembers? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64URL.decode(parts[0]),
            let mac = Base64URL.decode(parts[1]),
            constantTimeEqual(mac, key.mac(of: domain + bytes))
        else { return nil }
        return JSONValue(parsing: bytes)?.members
    }
}
