import Encodings
import JSON

/// Signs tokens with one key and a header that is encoded once.
package struct TokenSigner: Sendable {
    private let key: PrivateKey
    private let algorithm: SignatureAlgorithm
    /// The header in base64url with the following dot.
    private let start: [UInt8]

    /// Creates a signer of tokens with these header members, whose `alg` is the given algorithm.
    init(
        _ key: PrivateKey, _ algorithm: SignatureAlgorithm, header: [(name: String, value: String)]
    ) {
        self.key = key
        self.algorithm = algorithm
        var writer = JSONWriter()
        writer.object { members in
            for (name, value) in header {
                members.name(name)
                members.text(value)
            }
        }
        start = Array((Base64URL.encode(writer.bytes) + ".").utf8)
    }

    /// Signs claims and returns a compact JWS.
    ///
    /// The claims are JSON and are signed unchanged. They must not be empty.
    package func sign(_ claims: [UInt8]) -> String {
        precondition(!claims.isEmpty, "a token has claims")
        let signedCount = start.count + Base64URL.textCount(claims.count)
        let signatureCount = key.parameters.signatureByteCount
        let count = signedCount + 1 + Base64URL.textCount(signatureCount)
        return unsafe String(unsafeUninitializedCapacity: count) { token in
            _ = unsafe token.update(fromContentsOf: start)
            unsafe claims.withUnsafeBufferPointer { claims in
                unsafe Base64URL.write(
                    claims, to: UnsafeMutableBufferPointer(rebasing: token[start.count...]))
            }
            unsafe withUnsafeTemporaryAllocation(
                of: UInt8.self, capacity: signatureCount
            ) { signature in
                let isSigned = unsafe key.sign(
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(token)[..<signedCount]),
                    to: signature, by: algorithm)
                precondition(isSigned, "OpenSSL can't sign with a valid key")
                unsafe token[signedCount] = UInt8(ascii: ".")
                unsafe Base64URL.write(
                    UnsafeBufferPointer(signature),
                    to: UnsafeMutableBufferPointer(rebasing: token[(signedCount + 1)...]))
            }
            return count
        }
    }
}
