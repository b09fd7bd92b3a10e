/// The state of a session that no event records: its valid refresh token.
///
/// Tokens are stored as digests. The successor is also stored sealed with its predecessor, so that
/// a client that lost the answer gets the same successor again within the grace time, and a copy of
/// the database reveals no token.
package struct RefreshTokenState: Hashable, Sendable {
    /// The digest of the valid token.
    package internal(set) var current: Digest
    /// The token before it, if any.
    package internal(set) var preceding: Preceding?
    /// The number of tokens that the session had before the current one.
    package internal(set) var generation: Int32
    /// The time at which the session ends unless it is refreshed.
    package internal(set) var expiresAt: Timestamp

    /// The token that was exchanged last.
    package struct Preceding: Hashable, Sendable {
        package let digest: Digest
        /// The current token, sealed with the preceding one.
        package let sealedSuccessor: [UInt8]
        package let exchangedAt: Timestamp

        /// Describes the token that was exchanged last.
        package init(digest: Digest, sealedSuccessor: [UInt8], exchangedAt: Timestamp) {
            self.digest = digest
            self.sealedSuccessor = sealedSuccessor
            self.exchangedAt = exchangedAt
        }

        /// Checks whether the exchange is at most some seconds from now, in either direction.
        ///
        /// One further in the future was made before the clock was set back, an unknown time ago.
        func isRecent(at now: Timestamp, withinSeconds seconds: Int64) -> Bool {
            now <= exchangedAt.adding(seconds: seconds)
                && exchangedAt <= now.adding(seconds: seconds)
        }
    }

    /// Drops every secret: no token has a digest of zeros.
    mutating func forget() {
        current = .zero
        preceding = nil
    }

    /// The token that a refresh returns.
    package enum Exchange: Hashable, Sendable {
        /// The successor that the command carries.
        case fresh
        /// The successor that an earlier exchange of the same token returned, still sealed.
        case repeated(sealedSuccessor: [UInt8])
    }

    /// Describes the refresh tokens of a session.
    package init(
        current: Digest, preceding: Preceding?, generation: Int32, expiresAt: Timestamp
    ) {
        self.current = current
        self.preceding = preceding
        self.generation = generation
        self.expiresAt = expiresAt
    }
}
