package import Cryptography
internal import Encodings
package import Ledger

/// Issues refresh tokens, recognises them, and seals successors.
///
/// A token is the base64url form of `version(1) || session(16) || random(32) || MAC(16)`. The MAC
/// is the first 128 bits of HMAC-SHA256 over `"refresh:" || tenant || version || session || random`:
/// a made-up token is refused without the ledger, so no one can end another person's session by
/// presenting a wrong token for it. The random bits make a token unguessable; the ledger stores a
/// digest of them.
package struct RefreshTokens: Sendable {
    private static let version: UInt8 = 1
    private static let sessionByteCount = 16
    private static let randomByteCount = 32
    private static let macByteCount = 16
    private static let signedByteCount = 1 + sessionByteCount + randomByteCount
    private static let byteCount = signedByteCount + macByteCount

    private static let codeLabel = Array("refresh:".utf8)
    private static let sealingLabel = Array("successor".utf8)

    private let key: HMACKey

    /// Uses the secret that all processes of the ledger share.
    package init(key: SymmetricKey) {
        self.key = HMACKey(key)
    }

    /// Issues a new token for a session.
    package func issue(for session: SessionID, in tenant: TenantID) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(Self.version)
        for shift in stride(from: 120, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: session.bits >> UInt128(shift)))
        }
        bytes += SecureRandom.bytes(Self.randomByteCount)
        bytes += mac(for: bytes[...], in: tenant)
        return Base64URL.encode(bytes)
    }

    /// Returns the session of a token; nil unless it was issued for this tenant.
    ///
    /// Whether the token is the session's current one is for the ledger to decide.
    package func session(of token: String, in tenant: TenantID) -> SessionID? {
        guard let bytes = Self.bytes(of: token) else { return nil }
        let signed = bytes.prefix(Self.signedByteCount)
        let presented = Array(bytes.suffix(Self.macByteCount))
        guard constantTimeEqual(mac(for: signed, in: tenant), presented) else { return nil }
        let session = signed[1...Self.sessionByteCount]
        return SessionID(bits: session.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
    }

    /// Returns the digest of a token that the ledger stores; nil for a malformed token.
    package static func digest(_ token: String) -> Digest? {
        Digest(SHA256.hash(token))
    }

    /// Seals a token with its predecessor, which is stored nowhere.
    package static func seal(
        _ successor: String, with presented: String, in tenant: TenantID
    ) -> [UInt8] {
        guard let plaintext = bytes(of: successor), let key = sealingKey(presented) else {
            preconditionFailure("only tokens that were issued are sealed")
        }
        return AESGCM.seal(plaintext, key: key, additional: Array(tenant.description.utf8))
    }

    /// Opens a sealed token; nil with any other predecessor.
    package static func open(
        _ sealed: [UInt8], with presented: String, in tenant: TenantID
    ) -> String? {
        guard let key = sealingKey(presented) else { return nil }
        let additional = Array(tenant.description.utf8)
        return AESGCM.open(sealed, key: key, additional: additional).map(Base64URL.encode)
    }

    private static func bytes(of token: String) -> [UInt8]? {
        // The length is checked first, so that a long text costs nothing.
        guard token.utf8.count == (byteCount * 8 + 5) / 6, let bytes = Base64URL.decode(token),
            bytes.count == byteCount, bytes[0] == version
        else { return nil }
        return bytes
    }

    private static func sealingKey(_ presented: String) -> SymmetricKey? {
        SymmetricKey(bytes: HMACSHA256.mac(key: presented, sealingLabel))
    }

    private func mac(for bytes: ArraySlice<UInt8>, in tenant: TenantID) -> [UInt8] {
        let tenant = tenant.description.utf8
        var message: [UInt8] = []
        message.reserveCapacity(Self.codeLabel.count + tenant.count + bytes.count)
        message += Self.codeLabel
        message += tenant
        message += bytes
        return Array(key.mac(of: message).prefix(Self.macByteCount))
    }
}
