/// An ID token that signs in once, where a tenant wants that: a keyed digest names it, and nobody.
package struct SingleUseIDToken: Hashable, Sendable {
    /// How long after the first sign-in the same token opens further sessions, in seconds: who lost the answer
    /// tries again.
    package static let retrySeconds: Int64 = 60

    package let digest: Digest
    /// From when on the token is accepted no more in any case.
    package let expiresAt: Timestamp

    /// Names a token.
    package init(digest: Digest, expiresAt: Timestamp) {
        self.digest = digest
        self.expiresAt = expiresAt
    }
}
