import Encodings
import JSON

/// The validated parameters of a public key from a JWK (RFC 7518 section 6).
///
/// OpenSSL's keys are made from these parameters, so that libraries and this module can't interpret an
/// untrusted JWK differently.
enum JWKParameters: Sendable, Equatable {
    /// Modulus and exponent, big-endian without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// Coordinates on the curve P-256, 32 bytes each.
    case p256(x: [UInt8], y: [UInt8])

    /// Smallest accepted RSA modulus in bits, RFC 7518 section 3.3.
    static let modulusBitsMin = 2048

    /// Largest accepted RSA modulus in bits; the cost of verification grows with its square.
    static let modulusBitsMax = 8192

    /// Largest accepted RSA exponent in bytes; common ones have 1 or 3.
    static let exponentBytesMax = 8

    /// The number of bytes of a coordinate or a secret number on the curve P-256.
    static let coordinateByteCount = 32

    /// Reads the public part of a JWK; nil for other types and for weak or malformed keys.
    init?(jwk members: JSONMembers) {
        func bytes(_ name: String) -> [UInt8]? {
            members[name]?.string.flatMap { Base64URL.decode($0) }
        }
        switch members["kty"]?.string {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e") else {
                return nil
            }
            self.init(modulus: modulus, exponent: exponent)
        case "EC":
            guard
                members["crv"]?.string == "P-256",
                let x = bytes("x"), x.count == JWKParameters.coordinateByteCount,
                let y = bytes("y"), y.count == JWKParameters.coordinateByteCount
            else {
                return nil
            }
            self = .p256(x: x, y: y)
        default:
            return nil
        }
    }

    private init?(modulus: [UInt8], exponent: [UInt8]) {
        // Some providers include the leading sign byte of a DER integer.
        let modulus = Array(modulus.drop { byte in byte == 0 })
        let exponent = Array(exponent.drop { byte in byte == 0 })
        guard let first = modulus.first, let lowest = exponent.last else {
            return nil
        }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard
            bits >= JWKParameters.modulusBitsMin, bits <= JWKParameters.modulusBitsMax,
            modulus.last.map({ byte in byte & 1 == 1 }) == true,
            exponent.count <= JWKParameters.exponentBytesMax, lowest & 1 == 1, exponent != [1]
        else {
            return nil
        }
        self = .rsa(modulus: modulus, exponent: exponent)
    }

    /// The required members in the order and spelling that RFC 7638 section 3 hashes.
    var canonicalJSON: String {
        switch self {
        case .rsa(let modulus, let exponent):
            #"{"e":"\#(Base64URL.encode(exponent))","kty":"RSA","n":"\#(Base64URL.encode(modulus))"}"#
        case .p256(let x, let y):
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        }
    }

    /// The SHA-256 thumbprint as unpadded base64url, RFC 7638.
    var thumbprint: String {
        Base64URL.encode(SHA256.hash(Array(canonicalJSON.utf8)))
    }

    /// The exact length of a signature made with this key, in bytes.
    var signatureByteCount: Int {
        switch self {
        case .rsa(let modulus, _): modulus.count
        case .p256: 64
        }
    }

    /// A JWK for publication, with the members `alg`, `kid` and `use`.
    func published(algorithm: SignatureAlgorithm) -> String {
        let fields = canonicalJSON.dropFirst()
        return
            #"{"alg":"\#(algorithm.rawValue)","kid":"\#(thumbprint)","use":"sig",\#(fields)"#
    }
}
