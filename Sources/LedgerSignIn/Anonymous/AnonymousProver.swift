internal import Cryptography
internal import Encodings
internal import Ledger

/// Proves that a client has the secret of an anonymous account.
///
/// The subject is the SHA-256 of `anonymous:`, the tenant, a zero byte and the secret. So the ledger finds
/// the account without storing the secret, and its digest needs no key: 256 random bits can't be guessed,
/// and the MAC of the identity's row keeps anyone from putting another digest there.
struct AnonymousProver {
    private static let label = "anonymous:"

    let provider: ProviderName

    /// Returns the proof of a well-formed secret; whether an account has it is for the ledger to decide.
    ///
    /// - Throws: `invalid` for any other text; `unsupported` for a link, since an account never gets an
    ///   anonymous identity later.
    func prove(
        _ body: AnonymousBody, of tenant: TenantID, for purpose: ProofPurpose, at now: Timestamp
    ) throws(Credential.Flaw) -> Proof {
        if case .link = purpose { throw .unsupported }
        guard body.isWellFormed, let subject = subject(body, tenant) else { throw .invalid }
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: now.seconds), methods: .anonymous,
            email: nil)
    }

    private func subject(_ body: AnonymousBody, _ tenant: TenantID) -> Subject? {
        let digest = SHA256.hash("\(Self.label)\(tenant)\0\(body.secret)")
        return Subject(provider: provider, providerID: Base64URL.encode(digest))
    }
}
