package import Cryptography
package import Ledger

/// Makes the digests by which the e-mails of identities that belong to nobody are found.
///
/// HMAC-SHA256 over `"former-email:" || tenant || 0 || e-mail`, the e-mail as searches compare it, under the
/// secret that every process of the ledger shares and that is never rotated: who has the database alone can't
/// try addresses out.
package struct SearchKey: Sendable {
    private static let label = "former-email:"

    private let secret: SymmetricKey

    /// Takes the secret.
    package init(_ secret: SymmetricKey) {
        self.secret = secret
    }

    /// What is stored of an e-mail.
    package func digest(of email: String, in tenant: TenantID) -> [UInt8] {
        HMACSHA256.code(
            key: secret,
            Array("\(Self.label)\(tenant)\0\(SearchTerm.comparable(email: email))".utf8))
    }
}
