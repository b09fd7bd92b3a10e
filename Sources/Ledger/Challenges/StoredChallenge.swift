/// A challenge: a code that was sent to an address and proves the address when it comes back.
package struct StoredChallenge: Sendable {
    /// The number of codes that may be tried.
    package static let triesMax = 5
    /// The lifetime in seconds.
    package static let lifetimeSeconds: Int64 = 600

    package let id: ChallengeID
    package let tenant: TenantID
    /// The provider whose credential the code is.
    package let provider: ProviderName
    /// The session that may use it; nil for any client.
    package let session: SessionID?
    /// The digest of the merge plan for which it was made, or of the password that a reset replaces.
    package let plan: Digest?
    /// The address that it proves.
    package let name: AddressName
    /// The canonical form of the address.
    package let address: String
    /// The hash of the password that waits for the confirmation of a sign-up, or the use of a second factor.
    package let secret: String?
    /// The keyed digest of the code and of everything above.
    package let codeDigest: Digest
    package let expiresAt: Timestamp

    /// Describes a challenge.
    package init(
        id: ChallengeID, tenant: TenantID, provider: ProviderName, session: SessionID?,
        plan: Digest?, name: AddressName, address: String, secret: String? = nil,
        codeDigest: Digest, expiresAt: Timestamp
    ) {
        self.id = id
        self.tenant = tenant
        self.provider = provider
        self.session = session
        self.plan = plan
        self.name = name
        self.address = address
        self.secret = secret
        self.codeDigest = codeDigest
        self.expiresAt = expiresAt
    }
}

/// The text that carries the code of a challenge to its address.
package struct CodeMessage: Sendable {
    /// The use of the code, which the text names.
    package enum Purpose: String, Sendable, CaseIterable {
        case signIn = "sign_in"
        case link
        case merge
        case signUp = "sign_up"
        case reset
        case secondFactor = "second_factor"
        /// The change of an address, or its return.
        case address
        /// Instead of a code, when an account has the address of a sign-up.
        case addressKnown = "address_known"
    }

    package let purpose: Purpose
    package let code: String
    /// The client's `Accept-Language`.
    package let language: String?
    /// Whether it is sent: false for the reset of a password that no account has, which leaves the same rows.
    package let isSent: Bool
    /// The account of a second factor, with which the message is erased.
    package let account: AccountID?

    /// Describes a text.
    package init(
        purpose: Purpose, code: String, language: String?, isSent: Bool = true,
        account: AccountID? = nil
    ) {
        self.account = account
        self.purpose = purpose
        self.code = code
        self.language = language
        self.isSent = isSent
    }
}

/// A number of codes within a time: those sent to an address or a client network, or the wrong ones tried for an
/// address.
package struct CodeCount: Hashable, Sendable {
    /// The window of most counts in seconds.
    package static let windowSeconds: Int64 = 3600

    /// The keyed digest of what is counted.
    package let scope: Digest
    package let limit: Int
    package let windowSeconds: Int64
    /// The limit of codes that are sent, or of the passwords that strangers try for an address; nil for the count of
    /// something else.
    package let kind: CodeLimit?

    /// Describes a count.
    package init(
        scope: Digest, limit: Int, windowSeconds: Int64 = CodeCount.windowSeconds,
        kind: CodeLimit? = nil
    ) {
        self.scope = scope
        self.limit = limit
        self.windowSeconds = windowSeconds
        self.kind = kind
    }
}

/// The limits of the codes that are sent, as metrics name them.
package enum CodeLimit: String, CaseIterable, Sendable {
    case address
    case network
    /// The unanswered codes of a range of phone numbers.
    case prefix
    /// The text messages of a tenant.
    case tenant
}

/// A count that has reached its limit.
package struct ReachedCount: Hashable, Sendable {
    package let kind: CodeLimit?
    package let waitSeconds: Int64

    /// Describes the wait for a count.
    package init(_ kind: CodeLimit?, waitSeconds: Int64) {
        self.kind = kind
        self.waitSeconds = waitSeconds
    }
}

/// Stores challenges, and counts codes.
package protocol ChallengeStore: Sendable {
    /// Stores a challenge and the message with its code, together, and counts it.
    ///
    /// Does nothing when there is a challenge with the id that has not ended: its code was sent.
    ///
    /// - Returns: nil, or the count that has reached its limit; nothing is stored then.
    func open(
        _ challenge: StoredChallenge, _ message: CodeMessage, counting counts: [CodeCount],
        at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount?

    /// Counts one more try of a challenge, and compares its code.
    ///
    /// The try is stored before the result is returned, and a wrong one raises the counts of the comparison in the same
    /// transaction, so that the number of codes that can be compared is bounded however many are tried at once. A code
    /// that is right at the first try lowers counts, once however often it is repeated. A code that is used up ends
    /// its challenge in this transaction, too.
    ///
    /// - Parameters:
    ///   - id: The id of the challenge.
    ///   - tenant: Its tenant.
    ///   - now: The time of the request.
    ///   - compare: Compares the code with that of the challenge.
    /// - Returns: nil when there is no such challenge, it has ended, or it was tried too often.
    /// - Throws: `unavailable` when the store fails.
    func tryCode(
        of id: ChallengeID, in tenant: TenantID, at now: Timestamp,
        _ compare: @escaping @Sendable (StoredChallenge) -> ComparedCode
    ) async throws(LedgerFault) -> TriedCode?

    /// Adds one to counts, unless one of them has reached its limit.
    ///
    /// - Returns: nil, or a count that has reached its limit, if possible one without a kind; nothing is counted then.
    func count(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount?

    /// Returns a count that has reached its limit, as ``count(_:in:at:)``, and counts nothing; nil without one.
    func reached(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount?

    /// Subtracts what ``count(_:in:at:)`` added, because the secret was right.
    func uncount(_ counts: [CodeCount], in tenant: TenantID) async throws(LedgerFault)

    /// Returns the last end of the device tokens of an address, an account or the whole tenant; nil without one.
    ///
    /// Those of an address end with those of the account that has proved it.
    func devicesEnded(
        of names: [AddressName], _ account: AccountID?, in tenant: TenantID
    ) async throws(LedgerFault) -> Timestamp?
}
