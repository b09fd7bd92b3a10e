/// A proof that a person has an identity.
///
/// Proofs are secrets: their descriptions do not contain them.
public enum Proof: Sendable {
    /// The ID token of a provider of type `oidc`, and the nonce with which the app asked for it.
    case idToken(String, nonce: String? = nil)
    /// The access token of a provider of type `oauth2`.
    case accessToken(String)
    /// The address and the password of a provider of type `password`.
    case password(email: String, password: String)
    /// The same with a code to the address, sent by the provider of passwords, for a sign-in that was refused because
    /// strangers have tried too many passwords: its error has `["needs": "code"]` as ``LedgerError/details``.
    case passwordWithCode(email: String, password: String, SentCode, code: String)
    /// The code that was sent for a ``SentCode``.
    case code(SentCode, String)
    /// The code that was sent to link an address with a password, and the new password.
    case newPassword(SentCode, code: String, password: String)
    /// The secret of an anonymous account; nil opens one, with the attestation that the operator asks for.
    ///
    /// The attestation comes from App Attest, for example, in the form that the operator's service reads.
    case anonymous(secret: String? = nil, attestation: String? = nil)
    /// The code of a browser flow with the verifier of the client that began it.
    case flow(code: String, verifier: String)
    /// The response of an authenticator of passkeys.
    case passkey(PasskeyCredential)
}

extension Proof: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of proof, without its content.
    public var description: String {
        switch self {
        case .idToken: "ID token"
        case .accessToken: "access token"
        case .password: "password"
        case .passwordWithCode: "password with code"
        case .code: "code"
        case .newPassword: "new password"
        case .anonymous: "anonymous secret"
        case .flow: "flow code"
        case .passkey: "passkey"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A code that the ledger has sent to an address.
public struct SentCode: Codable, Hashable, Sendable {
    /// The id of the challenge, as necessary as the code: keep it where the sign-in began.
    public var challengeID: String
    /// The lifetime of the code, in seconds.
    public var expiresIn: Int

    /// Describes a code that was sent.
    public init(challengeID: String, expiresIn: Int) {
        self.challengeID = challengeID
        self.expiresIn = expiresIn
    }

    enum CodingKeys: String, CodingKey {
        case challengeID = "challenge_id"
        case expiresIn = "expires_in"
    }
}

/// A completed sign-in.
public struct SignIn: Hashable, Sendable {
    /// The account.
    public var profile: Profile
    /// Whether this sign-in opened the account.
    public var isNewUser: Bool
    /// Whether the store has the session.
    ///
    /// Otherwise it lasts until the process ends, and the next call saves it if the store can be written then. After
    /// a change of the account, it is not kept if a sign-out or a sign-in to another account came meanwhile.
    public var isSaved: Bool

    /// Describes a sign-in.
    public init(profile: Profile, isNewUser: Bool, isSaved: Bool = true) {
        self.profile = profile
        self.isNewUser = isNewUser
        self.isSaved = isSaved
    }
}

/// The result of a sign-up with a password.
public enum SignUpResult: Hashable, Sendable {
    /// A code was sent, which opens the account, or confirms its address, by a sign-in with ``Proof/code(_:_:)``.
    case codeSent(SentCode)
    /// The account is open. The code confirms its address; nil if it could not be sent.
    case signedIn(SignIn, confirmation: SentCode?)

    /// The code that was sent.
    public var sent: SentCode? {
        switch self {
        case .codeSent(let code): code
        case .signedIn(_, let confirmation): confirmation
        }
    }
}

/// A password that was linked with an address that is confirmed later.
public struct PasswordLink: Hashable, Sendable {
    /// The account with the password.
    public var profile: Profile
    /// The code that confirms the address; nil if none was sent.
    public var confirmation: SentCode?

    /// Describes a link.
    public init(profile: Profile, confirmation: SentCode?) {
        self.profile = profile
        self.confirmation = confirmation
    }
}

/// The result of a first proof.
public enum SignInResult: Hashable, Sendable {
    /// A session was opened.
    case signedIn(SignIn)
    /// The account needs a second factor, by ``AuthSession/completeSecondFactor(_:code:sent:)``.
    case needsSecondFactor(SecondFactorChallenge)
}
