package import Cryptography
internal import Ledger

/// Computes the digests that identify ID tokens that have opened a session.
///
/// HMAC-SHA256 over `"spent-id-token:" || tenant || 0 || signed part of the token`, under the secret
/// that all processes of the ledger share. The signature is excluded, because some algorithms allow
/// anyone to derive a second valid one.
package struct SingleUseIDTokens: Sendable {
    private static let label = "spent-id-token:"

    private let key: HMACKey

    /// Uses the secret that all processes of the ledger share.
    package init(key: SymmetricKey) {
        self.key = HMACKey(key)
    }

    /// Returns the name of a checked token; nil for a malformed one.
    func token(
        _ idToken: String, acceptedUntil expiresAt: Timestamp, in tenant: TenantID
    ) -> SingleUseIDToken? {
        guard let dot = idToken.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let mac = key.mac(
            of: Array("\(Self.label)\(tenant)\0\(idToken[..<dot])".utf8))
        return Digest(mac).map { SingleUseIDToken(digest: $0, expiresAt: expiresAt) }
    }
}
