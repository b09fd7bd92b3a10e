import JSON

/// Checks compact JSON Web Signatures, RFC 7515, with the hardening of RFC 8725.
///
/// A token has at most 16 KiB, exactly three parts, canonical unpadded base64url and a header
/// without duplicate members or `crit`. Keys that a token contains or references (`jwk`, `jku`, `x5c`,
/// `x5u`) are ignored.
package enum CompactJWS {
    /// Largest accepted token, in bytes.
    package static let tokenBytesMax = 16_384

    /// The used members of a header; untrusted before `verify`.
    package struct Header: Sendable {
        /// The claimed algorithm, which may be one that is never accepted.
        package let alg: String
        /// The id of the claimed signing key.
        package let kid: String?
        /// The type of the token.
        package let typ: String?

        /// The claimed algorithm, when it is a supported one.
        package let algorithm: SignatureAlgorithm?

        init(alg: String, kid: String?, typ: String?) {
            self.alg = alg
            self.kid = kid
            self.typ = typ
            algorithm = SignatureAlgorithm(exactly: alg)
        }
    }

    /// Reads the header of a well-formed token without checking its signature.
    package static func header(of token: String) -> Header? {
        ParsedJWS(token)?.header
    }

    /// Checks a signature and returns the payload, or nil.
    ///
    /// The header's algorithm must be among the allowed ones and fit the key.
    package static func verify(
        _ token: String, with key: VerificationKey, allowing allowed: Set<SignatureAlgorithm>
    ) -> [UInt8]? {
        guard let parsed = ParsedJWS(token) else {
            return nil
        }
        return verify(parsed, with: key, allowing: allowed) ? parsed.payload : nil
    }

    /// Checks a signature with the key that the header names and returns the payload, or nil.
    ///
    /// - Parameters:
    ///   - token: The compact JWS, which is parsed once.
    ///   - allowed: The algorithms that are accepted.
    ///   - key: Finds the key; nil refuses the token. The header is not verified yet.
    /// - Returns: The payload of a token with a valid signature.
    package static func verify(
        _ token: String, allowing allowed: Set<SignatureAlgorithm>,
        with key: (Header) -> VerificationKey?
    ) -> [UInt8]? {
        guard let parsed = ParsedJWS(token), let key = key(parsed.header) else {
            return nil
        }
        return verify(parsed, with: key, allowing: allowed) ? parsed.payload : nil
    }

    private static func verify(
        _ parsed: ParsedJWS, with key: VerificationKey, allowing allowed: Set<SignatureAlgorithm>
    ) -> Bool {
        guard let algorithm = parsed.header.algorithm, allowed.contains(algorithm) else {
            return false
        }
        return verify(parsed, with: key, by: algorithm)
    }

    /// Checks whether the signature is valid for a key and the header's algorithm, which must be allowed.
    package static func verify(
        _ parsed: ParsedJWS, with key: VerificationKey, by algorithm: SignatureAlgorithm
    ) -> Bool {
        guard
            key.fits(algorithm),
            // OpenSSL is lenient about lengths in places.
            parsed.signature.count == key.parameters.signatureByteCount
        else {
            return false
        }
        return parsed.isSigned(with: key.publicKey, by: algorithm)
    }
}

extension CompactJWS.Header: Equatable {
    /// Compares the members byte for byte.
    package static func == (left: CompactJWS.Header, right: CompactJWS.Header) -> Bool {
        left.alg.isExactly(right.alg) && left.kid.isExactly(right.kid)
            && left.typ.isExactly(right.typ)
    }
}
