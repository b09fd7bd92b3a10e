/// A single-use ID token, for tenants that require it, identified by a keyed digest.
package struct SingleUseIDToken: Hashable, Sendable {
    /// The time, in seconds, in which the same token may open further sessions after its first, for
    /// clients that lost the answer.
    package static let retrySeconds: Int64 = 60

    package let digest: Digest
    /// The time from which the token is not accepted in any case.
    package let expiresAt: Timestamp

    /// Describes a token.
    package init(digest: Digest, expiresAt: Timestamp) {
        self.digest = digest
        self.expiresAt = expiresAt
    }
}
