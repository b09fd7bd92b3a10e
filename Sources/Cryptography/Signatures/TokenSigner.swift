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
                members.member(name, value)
            }
        }
        start = Array((Base64URL.encode(writer.bytes) + ".").utf8)
    }

    /// Signs claims and returns a compact JWS.
    ///
    /// The claims are JSON and are signed unchanged. They must not be empty.
    package func sign(_ claims: [UInt8]) -> String {
        precondition(!claims.isEmpty, "a token has claims")
        var token = start
        token.reserveCapacity(
            start.count + Base64URL.textCount(claims.count) + 1
                + Base64URL.textCount(key.parameters.signatureByteCount))
        Base64URL.append(claims.span, to: &token)
        guard let signature = key.sign(token, by: algorithm) else {
            preconditionFailure("OpenSSL can't sign with a valid key")
        }
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature.span, to: &token)
        return String(decoding: token, as: UTF8.self)
    }
}
