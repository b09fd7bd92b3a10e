import JSON

/// A public key for checking signatures, with the usage restrictions of its JWK.
package final class VerificationKey: Sendable {
    /// The key's `kid`, when its JWK has one.
    package let keyID: String?

    /// The RFC 7638 SHA-256 thumbprint, which identifies the key by its content.
    package let thumbprint: String

    /// The `issuer` of its JWK: a member beyond the RFC, by which Microsoft names whose tokens it signs.
    package let issuer: String?

    let parameters: JWKParameters
    let publicKey: PublicKey
    private let declared: SignatureAlgorithm?

    /// Reads a JWK; nil unless it is a valid public key for a supported algorithm.
    ///
    /// RFC 7517 section 4. Refused are other key types and curves, RSA keys under 2048 bits, points
    /// off the curve, and keys whose `use`, `key_ops` or `alg` exclude checking signatures.
    package convenience init?(jwk: [UInt8]) {
        guard
            jwk.count <= KeySet.documentBytesMax,
            let members = JSONValue(parsing: jwk)?.members
        else {
            return nil
        }
        self.init(members: members)
    }

    init?(members: JSONMembers) {
        guard VerificationKey.isForSignatures(members) else {
            return nil
        }
        guard
            let parameters = JWKParameters(jwk: members),
            let publicKey = PublicKey(parameters)
        else {
            return nil
        }
        var declared: SignatureAlgorithm?
        if let algorithm = members.present("alg") {
            guard let known = algorithm.string.flatMap(SignatureAlgorithm.init(exactly:)) else {
                return nil
            }
            declared = known
        }
        self.keyID = members["kid"]?.string
        self.issuer = members["issuer"]?.string
        self.parameters = parameters
        self.publicKey = publicKey
        self.declared = declared
        self.thumbprint = parameters.thumbprint
    }

    init(keyID: String?, parameters: JWKParameters, publicKey: PublicKey) {
        self.keyID = keyID
        self.issuer = nil
        self.parameters = parameters
        self.publicKey = publicKey
        self.declared = nil
        self.thumbprint = parameters.thumbprint
    }

    /// Checks whether the key's type and its `alg`, if any, match an algorithm.
    package func fits(_ algorithm: SignatureAlgorithm) -> Bool {
        algorithm.fits(parameters) && (declared == nil || declared == algorithm)
    }

    private static func isForSignatures(_ members: JSONMembers) -> Bool {
        if let use = members.present("use"), use != .string("sig") {
            return false
        }
        guard let operations = members.present("key_ops") else {
            return true
        }
        return operations.array?.contains(.string("verify")) ?? false
    }
}
