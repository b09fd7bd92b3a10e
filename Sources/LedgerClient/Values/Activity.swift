public import Foundation

/// An event of an account, as its holder sees it.
public struct Activity: Codable, Hashable, Sendable, Identifiable {
    /// The kind of an event, of which later releases of the ledger may have further ones.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        /// The word of the HTTP API, such as `signed_in`.
        public let rawValue: String

        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The party that acted.
    public struct Initiator: RawRepresentable, Codable, Hashable, Sendable {
        /// The word of the HTTP API.
        public let rawValue: String

        /// Wraps a word, which may be one that this release does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The account holder.
        public static let holder = Self(rawValue: "holder")
        /// The support of the app.
        public static let support = Self(rawValue: "support")
        /// The ledger, its operator, or a person who proved an address.
        public static let system = Self(rawValue: "system")
    }

    /// The id of the event in the log.
    public var id: String
    /// The time.
    public var at: Date
    /// The kind.
    public var kind: Kind
    /// The party that acted.
    public var by: Initiator
    /// The provider of the identity that it is about.
    public var provider: String?
    /// The identity; nil when another account has it.
    public var identityID: String?
    /// The kind of a second factor that was added or removed.
    public var factor: SecondFactor.Kind?
    /// Whether the device of a sign-in was not known; nil where that is not checked.
    public var isNewDevice: Bool?
    /// Whether it is about the session of this device; nil for an event without a session.
    public var isCurrentSession: Bool?
    /// The reason of a refusal, such as `only_provider`.
    public var reason: String?
    /// The IP address of an action by the account holder.
    public var clientIP: String?

    enum CodingKeys: String, CodingKey {
        case id = "event_id"
        case at
        case kind
        case by
        case provider
        case identityID = "identity_id"
        case factor
        case isNewDevice = "new_device"
        case isCurrentSession = "current_session"
        case reason
        case clientIP = "client_ip"
    }
}

// The kinds that this release knows.
extension Activity.Kind {
    /// The account was made.
    public static let opened = Self(rawValue: "opened")
    /// A session began.
    public static let signedIn = Self(rawValue: "signed_in")
    /// A session ended.
    public static let signedOut = Self(rawValue: "signed_out")
    /// All sessions ended.
    public static let signedOutEverywhere = Self(rawValue: "signed_out_everywhere")
    /// A session ended, because a refresh token was used twice.
    public static let sessionRevoked = Self(rawValue: "session_revoked")
    /// Support ended the sessions.
    public static let sessionsEnded = Self(rawValue: "sessions_ended")
    /// There were too many sign-ins.
    public static let signInThrottled = Self(rawValue: "sign_in_throttled")
    /// An identity was added.
    public static let linked = Self(rawValue: "linked")
    /// A link was refused.
    public static let linkRefused = Self(rawValue: "link_refused")
    /// An identity was removed.
    public static let unlinked = Self(rawValue: "unlinked")
    /// An unlink was refused.
    public static let unlinkRefused = Self(rawValue: "unlink_refused")
    /// Support planned an unlink.
    public static let unlinkPlanned = Self(rawValue: "unlink_planned")
    /// A planned unlink was stopped.
    public static let unlinkStopped = Self(rawValue: "unlink_stopped")
    /// Another account was merged into it.
    public static let merged = Self(rawValue: "merged")
    /// A merge was undone.
    public static let mergeUndone = Self(rawValue: "merge_undone")
    /// An address was given without a proof.
    public static let addressClaimed = Self(rawValue: "address_claimed")
    /// An address was proved.
    public static let addressConfirmed = Self(rawValue: "address_confirmed")
    /// An address was replaced.
    public static let addressChanged = Self(rawValue: "address_changed")
    /// A former address was taken back.
    public static let addressReturned = Self(rawValue: "address_returned")
    /// Another person proved an address.
    public static let addressReleased = Self(rawValue: "address_released")
    /// A password was set.
    public static let passwordSet = Self(rawValue: "password_set")
    /// The password was replaced.
    public static let passwordChanged = Self(rawValue: "password_changed")
    /// A forgotten password was replaced.
    public static let passwordReset = Self(rawValue: "password_reset")
    /// A passkey was added.
    public static let passkeyRegistered = Self(rawValue: "passkey_registered")
    /// A second factor was added.
    public static let factorAdded = Self(rawValue: "factor_added")
    /// A second factor was removed.
    public static let factorRemoved = Self(rawValue: "factor_removed")
    /// The code of a second factor was wrong.
    public static let factorRefused = Self(rawValue: "factor_refused")
    /// Support planned the removal of a second factor.
    public static let factorRemovalPlanned = Self(rawValue: "factor_removal_planned")
    /// A planned removal was stopped.
    public static let factorRemovalStopped = Self(rawValue: "factor_removal_stopped")
    /// A recovery code was used.
    public static let recoveryCodeUsed = Self(rawValue: "recovery_code_used")
    /// Support disabled the account.
    public static let disabled = Self(rawValue: "disabled")
    /// Support enabled the account.
    public static let enabled = Self(rawValue: "enabled")
}

/// A page of an account's recent activity, newest first.
public struct ActivityPage: Codable, Hashable, Sendable {
    /// The events.
    public var events: [Activity]
    /// The value of `before` for the next page; nil on the last one.
    public var next: String?

    enum CodingKeys: String, CodingKey {
        case events = "activity"
        case next
    }
}
