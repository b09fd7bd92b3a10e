/// The kinds of second factors; their names stand in entries and never change.
package enum FactorKind: String, Hashable, Sendable, CaseIterable {
    /// An authenticator app (RFC 6238).
    case totp
    /// A phone number that gets a code by SMS.
    case phone
    /// A security key or another authenticator of passkeys (WebAuthn), which then signs in to nothing alone.
    case passkey
    /// A set of recovery codes, each of which replaces a lost factor once; not itself a required factor.
    case recoveryCodes = "recovery_codes"

    /// Whether an account with one needs a second factor at every sign-in.
    package var isRequired: Bool { self != .recoveryCodes }

    /// Whether it is a code that is short enough to be guessed.
    package var isGuessable: Bool { self == .totp || self == .phone }

    /// Whether it is of another kind than the methods of a first step.
    package func mayFollow(_ methods: AuthenticationMethods) -> Bool {
        switch self {
        case .totp, .recoveryCodes: true
        case .phone: !methods.includes(.sms)
        case .passkey: !methods.includes(.passkey)
        }
    }

    /// Whether it is of another kind than a type of provider.
    func mayFollow(_ type: ProviderType?) -> Bool {
        switch self {
        case .totp, .recoveryCodes: true
        case .phone: type != .phone
        case .passkey: type != .passkey
        }
    }
}

/// The kind of a ``FactorID``.
package enum FactorIDKind {}

/// The id of one second factor or one set of recovery codes.
package typealias FactorID = EntityID<FactorIDKind>

/// A second factor of an account in the log.
package struct HeldFactor: Hashable, Sendable {
    package let id: FactorID
    package let kind: FactorKind
    /// The account that enrolled it, whose row and key it keeps.
    package let account: AccountID
    /// The account whose sign-ins it completes: the one that enrolled it, or the survivor of that one's merges.
    package internal(set) var holder: AccountID
    /// The position of the `SecondFactorEnrolled`: the version of its secret.
    package let position: LogPosition
    /// The used codes of a set of recovery codes: bit n for code n.
    package internal(set) var usedCodes: Int64
    /// When it is removed, because support planned it; nil otherwise.
    package internal(set) var removalDue: Timestamp?

    /// Describes a factor; without a holder it is held by the account that enrolled it.
    package init(
        id: FactorID, kind: FactorKind, account: AccountID, holder: AccountID? = nil,
        position: LogPosition, usedCodes: Int64 = 0, removalDue: Timestamp? = nil
    ) {
        self.id = id
        self.kind = kind
        self.account = account
        self.holder = holder ?? account
        self.position = position
        self.usedCodes = usedCodes
        self.removalDue = removalDue
    }

    /// Returns the factor as it is held by an account.
    package func held(by holder: AccountID) -> HeldFactor {
        var factor = self
        factor.holder = holder
        return factor
    }

    /// Makes it another account's, by a merge or its undoing; a planned removal ends with that.
    mutating func move(to holder: AccountID) {
        self.holder = holder
        removalDue = nil
    }
}

/// A second factor that an account gets.
package struct NewFactor: Hashable, Sendable, CustomStringConvertible {
    package let id: FactorID
    package let kind: FactorKind
    /// The bytes that are stored, encrypted: the secret of an authenticator app, a phone number, the text of a
    /// passkey, or the digests of recovery codes.
    package let secret: [UInt8]
    /// The time step of the code that proved it, or the counter of a passkey; 0 for other kinds.
    package let counter: Int64
    /// The identity that the key of a passkey would be; nil for any other kind.
    package let subject: Subject?
    /// The key of a passkey; nil for any other kind.
    package let key: FactorKey?

    /// Describes a factor.
    package init(
        id: FactorID, kind: FactorKind, secret: [UInt8], counter: Int64,
        passkey: (subject: Subject, domain: String)? = nil
    ) {
        self.id = id
        self.kind = kind
        self.secret = secret
        self.counter = counter
        subject = passkey?.subject
        key = passkey.map { FactorKey(providerID: $0.subject.providerID, domain: $0.domain) }
    }

    /// The kind, without the secret.
    package var description: String { "NewFactor(\(kind.rawValue), redacted)" }
}

/// The use of a second factor whose code was right when it was checked.
package struct FactorUse: Hashable, Sendable {
    /// The factor, whose secret never changes.
    package let factor: FactorID
    /// The time step of the code, the counter of the passkey, or the number of the recovery code; 0 for a phone.
    package let counter: Int64
    /// The challenge that the code of a phone answers.
    package let challenge: ChallengeID?
    /// Whether the counter of a passkey must be above that of its last use.
    package let comparesCounter: Bool

    /// Describes a use.
    package init(
        factor: FactorID, counter: Int64, challenge: ChallengeID? = nil,
        comparesCounter: Bool = true
    ) {
        self.factor = factor
        self.counter = counter
        self.challenge = challenge
        self.comparesCounter = comparesCounter
    }
}

/// The key of a passkey that is a second factor.
package struct FactorKey: Hashable, Sendable {
    /// The id of the subject that the key has as an identity: no key of an account is both.
    package let providerID: String
    /// The domain for which it was made.
    package let domain: String

    /// Describes a key.
    package init(providerID: String, domain: String) {
        self.providerID = providerID
        self.domain = domain
    }
}
