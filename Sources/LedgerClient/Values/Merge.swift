/// The side of a merge whose identity of a provider stays.
public enum MergeSide: String, Codable, Hashable, Sendable {
    /// The account that is signed in, and remains.
    case survivor
    /// The other account.
    case absorbed
}

/// An identity in a merge.
public struct MergedIdentity: Codable, Hashable, Sendable, Identifiable {
    /// The opaque id.
    public var id: String
    /// The name of its provider.
    public var provider: String
    /// The time of its link, as the HTTP API states it.
    public var linkedAt: String
    /// Whether its provider verified its e-mail address; nil when that is not known.
    public var isEmailVerified: Bool?
    /// The account of an identity that is left behind; nil for any other.
    public var side: MergeSide?

    enum CodingKeys: String, CodingKey {
        case id = "identity_id"
        case provider
        case linkedAt = "linked_at"
        case isEmailVerified = "email_verified"
        case side = "of"
    }
}

/// A provider of which both accounts have an identity, though one of them stays.
public struct MergeChoice: Codable, Hashable, Sendable {
    /// The name of the provider.
    public var provider: String
    /// The account whose identity stays.
    public var keep: MergeSide
}

/// A second factor that the account has after a merge.
public struct MergedFactor: Codable, Hashable, Sendable, Identifiable {
    /// The opaque id.
    public var id: String
    /// The account that has it before the merge.
    public var side: MergeSide

    enum CodingKeys: String, CodingKey {
        case id = "factor_id"
        case side = "of"
    }
}

/// The effects of a merge that has not happened: show them before the person agrees.
public struct MergePlan: Codable, Hashable, Sendable {
    /// Agrees to the plan: it is the nonce of the ID token with which the merge is confirmed.
    public var digest: String
    /// The time in which it can be agreed to, in seconds.
    public var expiresIn: Int
    /// The account that remains, which is signed in.
    public var userID: String
    /// The account whose id refers to the survivor afterwards.
    public var absorbedUserID: String
    /// The identities of the survivor that stay.
    public var kept: [MergedIdentity]
    /// The identities that the survivor gets.
    public var moved: [MergedIdentity]
    /// The identities that no account has afterwards.
    public var leftBehind: [MergedIdentity]
    /// The providers of which both accounts have an identity.
    public var choices: [MergeChoice]
    /// The second factors of the survivor afterwards: every sign-in needs one of them, or a recovery code of either
    /// account.
    public var factors: [MergedFactor]
    /// The providers of the survivor afterwards, in linking order.
    public var linkedProviders: [String]

    enum CodingKeys: String, CodingKey {
        case digest = "plan_digest"
        case expiresIn = "expires_in"
        case userID = "user_id"
        case absorbedUserID = "absorbed_user_id"
        case kept
        case moved
        case leftBehind = "left_behind"
        case choices
        case factors
        case linkedProviders = "linked_providers"
    }
}

/// A merge that has happened.
public struct Merge: Codable, Hashable, Sendable, Identifiable {
    /// The id of the merge, by which support can undo it.
    public var id: String
    /// The account that remains.
    public var userID: String
    /// The account whose id refers to the survivor from now on.
    public var absorbedUserID: String
    /// The providers of the survivor, in linking order.
    public var linkedProviders: [String]

    enum CodingKeys: String, CodingKey {
        case id = "merge"
        case userID = "user_id"
        case absorbedUserID = "absorbed_user_id"
        case linkedProviders = "linked_providers"
    }
}
