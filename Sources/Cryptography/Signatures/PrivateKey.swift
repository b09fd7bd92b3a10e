internal import COpenSSL
import Encodings
import JSON

/// A private key that signs, with its public key: the basis of both kinds of signing keys.
struct PrivateKey: Sendable {
    /// The longest private JWK; one of 8192 bits has about 6,300 bytes.
    static let jwkBytesMax = 8_192

    /// The public key for verifying this key's signatures.
    let verificationKey: VerificationKey
    private let key: OpenSSLKey

    var keyID: String { verificationKey.thumbprint }
    var parameters: JWKParameters { verificationKey.parameters }

    private init?(_ key: OpenSSLKey?, _ parameters: JWKParameters) {
        guard let key, let publicKey = PublicKey(parameters) else {
            return nil
        }
        self.key = key
        verificationKey = VerificationKey(
            keyID: parameters.thumbprint, parameters: parameters, publicKey: publicKey)
    }

    /// Creates a random key on the curve P-256.
    static func generateP256() -> PrivateKey {
        let key = unsafe OpenSSLKey(owning: copenssl_p256_generate(), for: .signing)
        let count = JWKParameters.coordinateByteCount
        guard
            let x = key?.number("qx", byteCount: count),
            let y = key?.number("qy", byteCount: count),
            let made = PrivateKey(key, .p256(x: x, y: y))
        else {
            preconditionFailure("OpenSSL can't make a key on P-256")
        }
        return made
    }

    /// Reads a key on P-256 in PKCS #8 (RFC 5208); nil for anything else.
    static func p256(pkcs8 bytes: [UInt8]) -> PrivateKey? {
        let key = unsafe OpenSSLKey(owning: copenssl_pkcs8(bytes, bytes.count), for: .signing)
        let count = JWKParameters.coordinateByteCount
        guard let x = key?.number("qx", byteCount: count),
            let y = key?.number("qy", byteCount: count),
            let read = PrivateKey(key, .p256(x: x, y: y)), read.canBeVerified(.es256)
        else { return nil }
        return read
    }

    /// Creates a random RSA key.
    static func generateRSA(bits: Int) -> PrivateKey {
        let key = unsafe OpenSSLKey(owning: copenssl_rsa_generate(bits), for: .signing)
        guard
            let modulus = key?.number("n"), let exponent = key?.number("e"),
            let made = PrivateKey(key, .rsa(modulus: modulus, exponent: exponent))
        else {
            preconditionFailure("OpenSSL can't make an RSA key")
        }
        return made
    }

    /// Reads a private JWK; nil when it lacks the private part or the parts do not match.
    init?(jwk: [UInt8], algorithm: SignatureAlgorithm) {
        guard
            jwk.count <= PrivateKey.jwkBytesMax, let members = JSONValue(parsing: jwk)?.members,
            let parameters = JWKParameters(jwk: members), algorithm.fits(parameters)
        else {
            return nil
        }
        let made = unsafe PrivateKey.imported(members, parameters)
        self.init(unsafe OpenSSLKey(owning: made, for: .signing), parameters)
        // OpenSSL does not check that the private and the public members match; a trial signature does.
        guard canBeVerified(algorithm) else {
            return nil
        }
    }

    /// The private members of a JWK (RFC 7518 sections 6.2.2 and 6.3.2) and OpenSSL's names of them.
    private static func privateMembers(
        _ parameters: JWKParameters
    ) -> [(name: String, number: String)] {
        switch parameters {
        case .p256: [("d", "priv")]
        case .rsa:
            [
                ("d", "d"), ("p", "rsa-factor1"), ("q", "rsa-factor2"), ("dp", "rsa-exponent1"),
                ("dq", "rsa-exponent2"), ("qi", "rsa-coefficient1"),
            ]
        }
    }

    private static func imported(
        _ members: JSONMembers, _ parameters: JWKParameters
    ) -> OpaquePointer? {
        var numbers: [UInt8] = []
        var counts: [Int] = []
        var byteCountMax = JWKParameters.coordinateByteCount
        if case .rsa(let modulus, let exponent) = parameters {
            numbers = modulus + exponent
            counts = [modulus.count, exponent.count]
            // The cost of a signature grows with the cube of a number's length.
            byteCountMax = modulus.count
        }
        // Growing would leave copies in freed memory.
        numbers.reserveCapacity(numbers.count + PrivateKey.jwkBytesMax)
        defer { numbers.wipe() }
        for (name, _) in privateMembers(parameters) {
            guard let member = members[name] else {
                continue
            }
            guard var bytes = member.string.flatMap({ Base64URL.decode($0) }) else {
                return nil
            }
            defer { bytes.wipe() }
            guard !bytes.isEmpty, bytes.count <= byteCountMax else {
                return nil
            }
            numbers += bytes
            counts.append(bytes.count)
        }
        switch parameters {
        case .p256(let x, let y):
            // RFC 7518 section 6.2.2.1: as long as the curve's order, leading zeros included.
            guard counts == [byteCountMax] else {
                return nil
            }
            return unsafe copenssl_p256_key([0x04] + x + y, numbers)
        case .rsa:
            // The members besides `d` make signing faster, and only all of them do.
            guard members["d"] != nil, counts.count == 3 || counts.count == 8 else {
                return nil
            }
            return unsafe copenssl_rsa_key(numbers, counts, counts.count)
        }
    }

    /// Exports the key as a JWK, which is an ordinary array and is not wiped.
    func jwk() -> [UInt8] {
        var jwk = String(parameters.canonicalJSON.dropLast())
        let byteCount: Int? =
            if case .p256 = parameters { JWKParameters.coordinateByteCount } else { nil }
        for (name, numberName) in PrivateKey.privateMembers(parameters) {
            guard var number = key.number(numberName, byteCount: byteCount) else {
                continue
            }
            defer { number.wipe() }
            jwk += #","\#(name)":"\#(Base64URL.encode(number))""#
        }
        return Array((jwk + "}").utf8)
    }

    /// Signs bytes; nil when OpenSSL can't.
    func sign(_ bytes: [UInt8], by algorithm: SignatureAlgorithm) -> [UInt8]? {
        var signature = [UInt8](repeating: 0, count: parameters.signatureByteCount)
        let isSigned = key.withContext(for: algorithm) { context in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe signature.withUnsafeMutableBufferPointer { signature in
                    unsafe context.sign(bytes, to: signature)
                }
            }
        }
        return isSigned ? signature : nil
    }

    private func canBeVerified(_ algorithm: SignatureAlgorithm) -> Bool {
        let trial = Array("{}".utf8)
        guard let signature = sign(trial, by: algorithm) else { return false }
        return unsafe trial.withUnsafeBytes { trial in
            unsafe verificationKey.publicKey.verifies(signature, of: trial, by: algorithm)
        }
    }
}
