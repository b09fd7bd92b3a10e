import Encodings
import JSON

/// A private key with its public key: the basis of both kinds of signing keys.
struct SigningKeyPair: Sendable {
    /// The longest private JWK; one of 8192 bits has about 6,300 bytes.
    ///
    /// The cost of checking a key grows with the cube of its longest member: minutes for longer ones.
    static let privateBytesMax = 8_192

    let handle: JWKHandle
    let parameters: JWKParameters
    let keyID: String

    /// Wraps a newly generated private key, whose public part is always valid.
    init(generated handle: JWKHandle) {
        guard
            let members = JSONValue(parsing: handle.json())?.members,
            let parameters = JWKParameters(jwk: members)
        else {
            preconditionFailure("a generated key can't be read back")
        }
        self.handle = handle
        self.parameters = parameters
        self.keyID = parameters.thumbprint
    }

    /// Reads a private JWK; nil when it lacks the private part or the parts do not match.
    init?(privateJWK: [UInt8], algorithm: SignatureAlgorithm) {
        guard
            privateJWK.count <= SigningKeyPair.privateBytesMax,
            let members = JSONValue(parsing: privateJWK)?.members, members["d"]?.string != nil,
            SigningKeyPair.areDecodable(members),
            let parameters = JWKParameters(jwk: members), algorithm.fits(parameters),
            let handle = JWKHandle(json: privateJWK),
            // With a private member cjose accepts a point that is not on the curve, otherwise it
            // refuses it.
            JWKHandle(json: Array(parameters.canonicalJSON.utf8)) != nil
        else {
            return nil
        }
        self.handle = handle
        self.parameters = parameters
        self.keyID = parameters.thumbprint
        guard isConsistent(algorithm) else {
            return nil
        }
    }

    // cjose ends the process on text that is not base64.
    private static func areDecodable(_ members: JSONMembers) -> Bool {
        ["d", "p", "q", "dp", "dq", "qi"].allSatisfy { name in
            guard let value = members[name] else {
                return true
            }
            return value.string.flatMap { Base64URL.decode($0) } != nil
        }
    }

    /// The public key for verifying this key's signatures.
    var verificationKey: VerificationKey {
        guard let publicKey = PublicKey(parameters) else {
            preconditionFailure("the public part of a valid key can't be read")
        }
        return VerificationKey(keyID: keyID, parameters: parameters, publicKey: publicKey)
    }

    /// Signs a payload; the header must name an algorithm of this key.
    func sign(header: [(name: String, value: String)], payload: [UInt8]) -> String {
        guard let token = handle.sign(header: header, payload: payload) else {
            preconditionFailure("cjose can't sign with a valid key")
        }
        return token
    }

    // cjose does not check that the private and the public members match; a trial signature does.
    private func isConsistent(_ algorithm: SignatureAlgorithm) -> Bool {
        let header = [(name: "alg", value: algorithm.rawValue)]
        guard let token = handle.sign(header: header, payload: Array("{}".utf8)) else {
            return false
        }
        return CompactJWS.verify(token, with: verificationKey, allowing: [algorithm]) != nil
    }
}
