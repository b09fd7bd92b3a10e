package import Cryptography
internal import Ledger

/// Makes the digests by which ID tokens are known that have opened a session.
///
/// HMAC-SHA256 over `"spent-id-token:" || tenant || 0 || signed part of the token`, under the secret that every
/// process of the ledger shares. The signature is left out: of some algorithms anybody can make a second one
/// that is as good.
package struct SingleUseIDTokens: Sendable {
    private static let label = "spent-id-token:"

    private let key: SymmetricKey

    /// Takes the secret that every process of the ledger shares.
    package init(key: SymmetricKey) {
        self.key = key
    }

    /// Names a token that was checked; nil for what can be none.
    func token(
        _ idToken: String, acceptedUntil expiresAt: Timestamp, in tenant: TenantID
    ) -> SingleUseIDToken? {
        guard let dot = idToken.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let code = HMACSHA256.code(
            key: key, Array("\(Self.label)\(tenant)\0\(idToken[..<dot])".utf8))
        return Digest(code).map { SingleUseIDToken(digest: $0, expiresAt: expiresAt) }
    }
}
