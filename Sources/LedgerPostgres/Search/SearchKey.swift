package import Cryptography
package import Ledger

/// Makes the digests by which the e-mails of identities that belong to nobody are found.
///
/// HMAC-SHA256 over `"former-email:" || tenant || 0 || e-mail`, the e-mail as searches compare it, and where it is
/// known whether it is verified, `|| 0 ||` and `verified` or `unverified` behind it; under the
/// secret that every process of the ledger shares and that is never rotated: who has the database alone can't
/// try addresses out.
package struct SearchKey: Sendable {
    private static let label = "former-email:"

    private let secret: SymmetricKey

    /// Takes the secret.
    package init(_ secret: SymmetricKey) {
        self.secret = secret
    }

    /// What may be known of an e-mail, first what makes it a match.
    static let flags: [Bool?] = [true, false, nil]

    /// What is stored of an e-mail, which also says whether it is verified.
    package func digest(of email: Email, in tenant: TenantID) -> [UInt8] {
        let address = SearchTerm.comparable(email: email.address)
        let flag = email.isVerified.map { $0 ? "\0verified" : "\0unverified" } ?? ""
        return HMACSHA256.code(key: secret, Array("\(Self.label)\(tenant)\0\(address)\(flag)".utf8))
    }

    /// What may be stored of an address, in the order of ``flags``.
    func digests(of address: String, in tenant: TenantID) -> [[UInt8]] {
        Self.flags.map { digest(of: Email(address, isVerified: $0), in: tenant) }
    }
}
