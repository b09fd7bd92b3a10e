public import Foundation

/// The part of a session that outlives the app: a secret, which suffices to act for the account holder.
public struct StoredState: Codable, Hashable, Sendable {
    /// An open session.
    public struct Session: Codable, Hashable, Sendable {
        /// The last known account.
        public var profile: Profile
        /// The access token.
        public var accessToken: String
        /// The refresh token, which is good for one exchange.
        public var refreshToken: String
        /// The time at which the access token expires, by the ledger's clock.
        public var expiresAt: Date
        /// The lifetime of the access token, in seconds.
        public var lifetime: Int
        /// The ledger's time minus that of this device, in seconds.
        public var clockOffset: TimeInterval
        /// The secret of an anonymous account, which opens it again.
        public var anonymousSecret: String?
        /// Whether a refresh began whose answer was not stored.
        public var isRefreshing = false
        /// The name of the sign-in that opened the session, random and no secret; renewals keep it.
        public var signInID: String?

        /// Describes a session.
        public init(
            profile: Profile, accessToken: String, refreshToken: String, expiresAt: Date,
            lifetime: Int, clockOffset: TimeInterval = 0, anonymousSecret: String? = nil
        ) {
            self.profile = profile
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expiresAt = expiresAt
            self.lifetime = lifetime
            self.clockOffset = clockOffset
            self.anonymousSecret = anonymousSecret
        }
    }

    /// The open session, if any.
    public var session: Session?
    /// The session that ended without a sign-out, until the next sign-in.
    public var expired: ExpiredSession?
    /// The token that goes with codes and passwords, so that strangers can't use up this device's tries.
    ///
    /// It opens nothing by itself, and stays after a sign-out.
    public var deviceToken: String?

    /// The state without a session.
    public init() {}

    /// Whether there is nothing to store.
    public var isEmpty: Bool { self == StoredState() }

    /// The account whose session is open, or has ended without a sign-out.
    var userID: String? { session?.profile.userID ?? expired?.profile.userID }
}

extension StoredState.Session {
    /// Whether a session was opened by the sign-in of another one, which it may have renewed.
    func isOfSignIn(of other: Self?) -> Bool {
        signInID == other?.signInID && profile.userID == other?.profile.userID
    }

    /// Returns the secret of the account once it has other providers: an upgrade replaces the anonymous one, and
    /// makes the secret void.
    func secret(besides providers: [String]) -> String? {
        profile.linkedProviders.contains { providers.contains($0) } ? anonymousSecret : nil
    }
}

extension StoredState: CustomStringConvertible, CustomReflectable {
    /// Whether there is a session, without its tokens.
    public var description: String { session == nil ? "no session" : "a session" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoredState.Session: CustomStringConvertible, CustomReflectable {
    /// A text without the tokens.
    public var description: String { "a session" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
