import Cryptography
import Encodings
import Passkeys
import Testing

/// An authenticator with an Ed25519 key that signs whatever a test wants.
struct SoftwareAuthenticator {
    static let origin = "https://login.example.com"
    static let challenge = [UInt8](repeating: 7, count: 32)
    static let userPresent: UInt8 = 0x01
    static let userVerified: UInt8 = 0x04
    static let backupEligible: UInt8 = 0x08
    static let backedUp: UInt8 = 0x10
    static let hasCredential: UInt8 = 0x40
    static let hasExtensions: UInt8 = 0x80

    let key = Ed25519PrivateKey.generate()
    var credentialID: [UInt8] = Array("credential".utf8)
    var rpID = "example.com"
    /// The flags of the user and of backups.
    var flags = userPresent | userVerified
    var count: UInt32 = 1
    var type: String?
    var origin = Self.origin
    var challenge = Self.challenge
    /// More members of the client data, such as `,"crossOrigin":false`.
    var members = ""
    /// The key in COSE; nil for the true one.
    var coseKey: [UInt8]?
    /// A map in CBOR.
    var extensions: [UInt8]?
    /// Bytes after the authenticator data.
    var suffix: [UInt8] = []
    var hasCredential = true
    var format = "packed"
    /// The number of the statement's algorithm.
    var algorithm = -8
    /// The statement; nil for a true one of the format.
    var statement: [UInt8]?
    /// Whether the statement is signed by the key of a certificate, which is the credential's own.
    var hasCertificate = false

    static func ceremony(
        _ verification: PasskeyCeremony.UserVerification = .required
    ) throws -> PasskeyCeremony {
        let party = try #require(
            RelyingParty(id: "example.com", name: "Example", origins: [origin]))
        return try #require(
            PasskeyCeremony(
                relyingParty: party, challenge: challenge, userVerification: verification))
    }

    func clientData(_ type: String) -> [UInt8] {
        let challenge = Base64URL.encode(challenge)
        return Array(
            #"{"type":"\#(self.type ?? type)","challenge":"\#(challenge)","origin":"\#(origin)"\#(members)}"#
                .utf8)
    }

    /// The public key as stored.
    func publicKey() throws -> PasskeyPublicKey {
        try PasskeyPublicKey(algorithm: .edDSA, bytes: key.publicKey.bytes)
    }

    func stored() throws -> StoredPasskey {
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

    func register() throws(PasskeyFault) -> RegistrationResponse {
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

    func assert(
        userHandle: [UInt8]? = [1], withCredential credential: [UInt8]? = nil
    ) throws(PasskeyFault) -> AssertionResponse {
        let clientData = clientData("webauthn.get")
        let data = authenticatorData(credential)
        return try AssertionResponse(
            credentialID: credentialID, clientDataJSON: clientData, authenticatorData: data,
            signature: key.sign(data + SHA256.hash(clientData)), userHandle: userHandle)
    }
}

/// Writes CBOR.
enum CBOR {
    static func integer(_ number: Int) -> [UInt8] {
        number < 0 ? head(1, -1 - number) : head(0, number)
    }

    static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }

    static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + text.utf8 }

    static func array(_ items: [[UInt8]]) -> [UInt8] { head(4, items.count) + items.joined() }

    static func map(_ pairs: [([UInt8], [UInt8])]) -> [UInt8] {
        head(5, pairs.count) + pairs.flatMap { $0.0 + $0.1 }
    }

    static func bigEndian(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func head(_ major: UInt8, _ number: Int) -> [UInt8] {
        switch number {
        case ..<24: [major << 5 | UInt8(number)]
        case ..<0x100: [major << 5 | 24, UInt8(number)]
        default: [major << 5 | 25] + bigEndian(UInt32(number), 2)
        }
    }
}
