package import Cryptography
internal import Encodings
package import Passkeys

/// An authenticator with an Ed25519 key that signs whatever a test wants.
package struct SoftwareAuthenticator: Sendable {
    /// The origin of its page.
    package static let origin = "https://login.example.com"
    /// The challenge that it answers.
    package static let challenge = [UInt8](repeating: 7, count: 32)
    /// User presence (UP).
    package static let userPresent: UInt8 = 0x01
    /// User verification (UV).
    package static let userVerified: UInt8 = 0x04
    /// The flag of a key that may be copied.
    package static let backupEligible: UInt8 = 0x08
    /// The flag of a key that was copied.
    package static let backedUp: UInt8 = 0x10
    /// The flag of data with a credential.
    package static let hasCredential: UInt8 = 0x40
    /// The flag of data with extensions.
    package static let hasExtensions: UInt8 = 0x80

    /// The key.
    package let key = Ed25519PrivateKey.generate()
    /// The id of the credential.
    package var credentialID: [UInt8] = Array("credential".utf8)
    /// The domain of the service.
    package var rpID = "example.com"
    /// The flags of the user and of backups.
    package var flags = userPresent | userVerified
    /// The counter of signatures.
    package var count: UInt32 = 1
    /// The type of the client data; nil for the true one.
    package var type: String?
    /// The origin of the client data.
    package var origin = Self.origin
    /// The challenge of the client data.
    package var challenge = Self.challenge
    /// More members of the client data, such as `,"crossOrigin":false`.
    package var members = ""
    /// The key in COSE; nil for the true one.
    package var coseKey: [UInt8]?
    /// A map in CBOR.
    package var extensions: [UInt8]?
    /// Bytes after the authenticator data.
    package var suffix: [UInt8] = []
    /// Whether a registration has the credential.
    package var hasCredential = true
    /// The format of the attestation.
    package var format = "packed"
    /// The number of the statement's algorithm.
    package var algorithm = -8
    /// The statement; nil for a true one of the format.
    package var statement: [UInt8]?
    /// Whether the statement is signed by the key of a certificate, which is the credential's own.
    package var hasCertificate = false

    /// Makes an authenticator with a new key.
    package init() {}

    /// Returns the client data of a type.
    package func clientData(_ type: String) -> [UInt8] {
        let challenge = Base64URL.encode(challenge)
        return Array(
            #"{"type":"\#(self.type ?? type)","challenge":"\#(challenge)","origin":"\#(origin)"\#(members)}"#
                .utf8)
    }

    /// The public key as stored.
    package func publicKey() throws -> PasskeyPublicKey {
        try PasskeyPublicKey(algorithm: .edDSA, bytes: key.publicKey.bytes)
    }

    /// The passkey as a service stores it.
    package func stored() throws -> StoredPasskey {
        StoredPasskey(
            credentialID: credentialID, publicKey: try publicKey(), signatureCount: 0,
            isBackupEligible: flags & Self.backupEligible != 0, userHandle: [1])
    }

    private func authenticatorData(_ credential: [UInt8]?) -> [UInt8] {
        var flags = flags
        if credential != nil { flags |= Self.hasCredential }
        if extensions != nil { flags |= Self.hasExtensions }
        return SHA256.hash(rpID) + [flags] + CBOR.bigEndian(count, 4) + (credential ?? [])
            + (extensions ?? []) + suffix
    }

    /// Answers a registration.
    package func register() throws(PasskeyFault) -> RegistrationResponse {
        let clientData = clientData("webauthn.create")
        let cose =
            coseKey
            ?? CBOR.map([
                (CBOR.integer(1), CBOR.integer(1)), (CBOR.integer(3), CBOR.integer(-8)),
                (CBOR.integer(-1), CBOR.integer(6)),
                (CBOR.integer(-2), CBOR.bytes(key.publicKey.bytes)),
            ])
        let credential =
            [UInt8](repeating: 0xAA, count: 16) + CBOR.bigEndian(UInt32(credentialID.count), 2)
            + credentialID + cose
        let data = authenticatorData(hasCredential ? credential : nil)
        let made =
            format == "none" ? CBOR.map([]) : signedStatement(data, SHA256.hash(clientData))
        return try RegistrationResponse(
            credentialID: credentialID.isEmpty || credentialID.count > 1_023 ? [1] : credentialID,
            clientDataJSON: clientData,
            attestationObject: CBOR.map([
                (CBOR.text("fmt"), CBOR.text(format)),
                (CBOR.text("attStmt"), statement ?? made),
                (CBOR.text("authData"), CBOR.bytes(data)),
            ]))
    }

    private func signedStatement(_ data: [UInt8], _ clientDataHash: [UInt8]) -> [UInt8] {
        // FIDO U2F signs a point on P-256, which the library reads from the memory of any key.
        let point = key.publicKey.bytes + [UInt8](repeating: 0, count: 32)
        let signed =
            format == "fido-u2f"
            ? SHA256.hash(
                [0], SHA256.hash(rpID), clientDataHash, credentialID, [4], point)
            : data + clientDataHash
        var pairs = [
            (CBOR.text("alg"), CBOR.integer(algorithm)),
            (CBOR.text("sig"), CBOR.bytes(key.sign(signed))),
        ]
        if hasCertificate {
            pairs.append((CBOR.text("x5c"), CBOR.array([CBOR.bytes(certificate)])))
        }
        return CBOR.map(pairs)
    }

    /// An X.509 certificate of the key, with empty names and a wrong signature.
    private var certificate: [UInt8] {
        func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
            let content = Array(parts.joined())
            let count = UInt8(content.count)
            return (count < 0x80 ? [tag, count] : [tag, 0x81, count]) + content
        }
        let ed25519 = der(0x30, der(0x06, [0x2B, 0x65, 0x70]))
        let name = der(0x30)
        let time = der(0x17, Array("260101000000Z".utf8))
        let publicKey = der(0x30, ed25519, der(0x03, [0] + key.publicKey.bytes))
        return der(
            0x30,
            der(0x30, der(0x02, [1]), ed25519, name, der(0x30, time, time), name, publicKey),
            ed25519, der(0x03, [0]))
    }

    /// Answers a request for an assertion.
    package func assert(
        userHandle: [UInt8]? = [1], withCredential credential: [UInt8]? = nil
    ) throws(PasskeyFault) -> AssertionResponse {
        let clientData = clientData("webauthn.get")
        let data = authenticatorData(credential)
        return try AssertionResponse(
            credentialID: credentialID, clientDataJSON: clientData, authenticatorData: data,
            signature: key.sign(data + SHA256.hash(clientData)), userHandle: userHandle)
    }
}
