/// The part of a session that no event records: which refresh token is good now.
///
/// Tokens are kept as digests. The successor is also kept sealed with the token that it succeeds, so
/// that who lost the answer and asks again within the grace time gets the same successor, and a copy of
/// the database gives nobody a token.
package struct RefreshTokenState: Hashable, Sendable {
    /// The digest of the token that is good now.
    package internal(set) var current: Digest
    /// The token before it, when there was one.
    package internal(set) var preceding: Preceding?
    /// How many tokens the session had before the current one.
    package internal(set) var generation: Int32
    /// When the session ends unless it is refreshed.
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

        /// Whether the exchange is no further from now than some seconds, in either direction.
        ///
        /// One that lies further ahead was made before the clock was set back, nobody knows how long
        /// ago.
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

    /// Which token a refresh gives back.
    package enum Exchange: Hashable, Sendable {
        /// The successor that the command brought.
        case fresh
        /// The successor that an earlier exchange of the same token gave, still sealed.
        case repeated(sealedSuccessor: [UInt8])
    }

    /// Describes which refresh tokens a session has.
    package init(
        current: Digest, preceding: Preceding?, generation: Int32, expiresAt: Timestamp
    ) {
        self.current = current
        self.preceding = preceding
        self.generation = generation
        self.expiresAt = expiresAt
    }
}
