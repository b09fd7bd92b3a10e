package import Cryptography
package import Ledger

/// Makes the digests by which former e-mails are found.
///
/// HMAC-SHA256 over `"former-email:" || tenant || 0 || e-mail`, with the e-mail in the form that searches
/// compare, followed by `|| 0 ||` and `verified` or `unverified` if that is known. The secret is shared by
/// every process of the ledger and never rotated; without it, the database alone does not allow addresses to
/// be tried out.
package struct SearchKey: Sendable {
    private static let label = "former-email:"

    private let secret: HMACKey

    /// Creates the key from the secret.
    package init(_ secret: SymmetricKey) {
        self.secret = HMACKey(secret)
    }

    /// The possible flags of an e-mail, certain matches first.
    static let flags: [Bool?] = [true, false, nil]

    /// Returns the stored digest of an e-mail, which includes whether it is verified.
    package func digest(of email: Email, in tenant: TenantID) -> [UInt8] {
        let address = SearchTerm.comparable(email: email.address)
        let flag = email.isVerified.map { $0 ? "\0verified" : "\0unverified" } ?? ""
        return secret.mac(of: Array("\(Self.label)\(tenant)\0\(address)\(flag)".utf8))
    }

    /// Returns the possible digests of an address, in the order of ``flags``.
    func digests(of address: String, in tenant: TenantID) -> [[UInt8]] {
        Self.flags.map { digest(of: Email(address, isVerified: $0), in: tenant) }
    }
}
