/// The state of a session, which an app shows.
public enum AuthState: Hashable, Sendable {
    /// There is no session on this device.
    case signedOut
    /// A person is signed in. The profile may be the last known one, while the ledger cannot be reached.
    case signedIn(Profile)
    /// The session has ended without a sign-out on this device: the person signs in again.
    case expired(ExpiredSession)
    /// The first proof of a sign-in was correct, and the second one is awaited, as long as the first one is good.
    case needsSecondFactor(SecondFactorChallenge)

    /// The profile of the person who is signed in; nil in every other state.
    public var profile: Profile? {
        if case .signedIn(let profile) = self { profile } else { nil }
    }
}

/// A session that has ended without a sign-out on this device.
public struct ExpiredSession: Codable, Hashable, Sendable {
    /// The cause of an end.
    public enum Cause: String, Codable, Hashable, Sendable {
        /// The ledger refused the refresh token: it expired, the session was ended elsewhere, or the token was used
        /// twice, by which the ledger detects a copy that another party has.
        case refused
        /// The same, after the answer to a refresh was lost for longer than the ledger repeats it: the likely cause
        /// is this device's own lost answer.
        case refreshInterrupted
    }

    /// The last known account.
    public var profile: Profile
    /// The cause.
    public var cause: Cause

    /// Describes an ended session.
    public init(profile: Profile, cause: Cause) {
        self.profile = profile
        self.cause = cause
    }
}
