import Encodings

/// Signs tokens of one type with one ES256 key and a header that is encoded once.
package struct TokenSigner: Sendable {
    private let key: P256PrivateKey
    /// The header in base64url with the following dot.
    private let start: [UInt8]

    init(_ key: P256PrivateKey, keyID: String, type: String) {
        precondition(
            type.utf8.allSatisfy { byte in
                (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"")
                    && byte != UInt8(ascii: "\\")
            }, "a type is plain text")
        self.key = key
        let header = #"{"alg":"ES256","kid":"\#(keyID)","typ":"\#(type)"}"#
        start = Array((Base64URL.encode(Array(header.utf8)) + ".").utf8)
    }

    /// Signs claims and returns a compact JWS.
    ///
    /// The claims are JSON and are signed unchanged. They must not be empty.
    package func sign(_ claims: [UInt8]) -> String {
        precondition(!claims.isEmpty, "a token has claims")
        let signedCount = start.count + Base64URL.textCount(claims.count)
        let count = signedCount + 1 + Base64URL.textCount(P256PrivateKey.signatureByteCount)
        return unsafe String(unsafeUninitializedCapacity: count) { token in
            _ = unsafe token.update(fromContentsOf: start)
            unsafe claims.withUnsafeBufferPointer { claims in
                unsafe Base64URL.write(
                    claims, to: UnsafeMutableBufferPointer(rebasing: token[start.count...]))
            }
            unsafe withUnsafeTemporaryAllocation(
                of: UInt8.self, capacity: P256PrivateKey.signatureByteCount
            ) { signature in
                guard let output = signature.baseAddress else {
                    preconditionFailure("a signature has bytes")
                }
                unsafe key.sign(
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(token)[..<signedCount]),
                    to: output)
                unsafe token[signedCount] = UInt8(ascii: ".")
                unsafe Base64URL.write(
                    UnsafeBufferPointer(signature),
                    to: UnsafeMutableBufferPointer(rebasing: token[(signedCount + 1)...]))
            }
            return count
        }
    }
}
