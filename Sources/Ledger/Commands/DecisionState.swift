/// The state for deciding a batch of one tenant's commands: the loaded part of the ledger, and the
/// operational facts that no event records.
package struct DecisionState: Sendable {
    /// An attempt that counts against an account's budget (a link, a merge or a refused unlink),
    /// with its outcome: the same attempt with the same outcome counts once.
    package struct Attempt: Hashable, Sendable {
        /// The kind of an attempt.
        package enum Action: String, Sendable {
            case link
            case unlink
            case merge
            /// A wrong second factor.
            case secondFactor
            /// Too many wrong passwords.
            case password
        }

        package let action: Action
        package let provider: ProviderName
        /// The digest of the credential, or of the idempotency key's scope.
        ///
        /// All zeros for an unlink, and for a merge with a known identity.
        package let digest: Digest
        /// The name of the digest's key; nil for one without a key.
        package let key: String?
        /// The refusal and its object, or the time of a success: each success counts.
        ///
        /// For a merge, the known identity that was proved.
        package let outcome: String

        /// Describes an attempt.
        package init(
            action: Action, provider: ProviderName, digest: Digest, key: String? = nil,
            outcome: String
        ) {
            self.action = action
            self.provider = provider
            self.digest = digest
            self.key = key
            self.outcome = outcome
        }
    }

    /// The number of sign-ins with an identity inside its budget's window.
    package struct SignInCount: Hashable, Sendable {
        package let count: Int
        /// The earliest of them.
        package let earliest: Timestamp

        /// Describes a count of at least one.
        package init(count: Int, earliest: Timestamp) {
            self.count = count
            self.earliest = earliest
        }
    }

    /// The last use of an account before a batch: an event that touches it, or a refresh of its sessions.
    package struct LastUse: Hashable, Sendable {
        /// The position of the last event that touches the account.
        package let position: LogPosition
        package let time: Timestamp

        /// Describes a use.
        package init(position: LogPosition, time: Timestamp) {
            self.position = position
            self.time = time
        }
    }

    /// A stored answer and the request that it belongs to.
    package struct IdempotencyRecord: Hashable, Sendable {
        package let fingerprint: Digest
        /// The name of the key of the digests of scope and content; nil for digests without one.
        package let key: String?
        package let answer: StoredAnswer

        /// Describes what a key answered.
        package init(fingerprint: Digest, key: String?, answer: StoredAnswer) {
            self.fingerprint = fingerprint
            self.key = key
            self.answer = answer
        }
    }

    package var ledger: LedgerState
    /// The identities by subject, including unlinked ones.
    package var directory = SubjectDirectory()
    package var refreshTokens: [SessionID: RefreshTokenState] = [:]
    /// The time of each attempt that counts.
    package var attempts: [AccountID: [Attempt: Timestamp]] = [:]
    package var signIns: [IdentityID: SignInCount] = [:]
    /// The last uses of accounts; loaded for retention only.
    package var lastUses: [AccountID: LastUse] = [:]
    package var idempotency: [IdempotencyScope: IdempotencyRecord] = [:]
    /// The last accepted time step of authenticator apps, and the used codes of sets of recovery codes.
    package var factorCounters: [FactorID: Int64] = [:]
    /// The keys of the passkeys that are loaded second factors.
    package var factorKeys: [FactorID: FactorKey] = [:]
    /// The counters of the loaded passkeys; 0 for one that does not count.
    package var passkeyCounts: [IdentityID: UInt32] = [:]
    /// The addresses that accounts have, by their names.
    package var addressNames = NamedAddresses()
    /// The last use of each identity that a phone number finds: its link, a proof of the number, a sign-in, or a
    /// refresh of a session that it opened.
    package var identityUses: [IdentityID: Timestamp] = [:]
    /// The identities whose phone number their account has lost, so that they open nothing; loaded for links of numbers
    /// by their accounts, and where an account loses ways to sign in, also to a person who proves a claimed address.
    package var lostNumbers: Set<IdentityID> = []
    /// The positions of the external ids that accounts have.
    package var names: [ExternalName: LogPosition] = [:]
    /// The challenges of proofs that can still be used.
    package var openChallenges: Set<ChallengeID> = []
    /// The requests to erase accounts.
    package var erasureRequests: [AccountID: ErasureRequest] = [:]
    /// The time at which each single-use ID token opened its first session, by its digest.
    package var spentIDTokens: [Digest: Timestamp] = [:]

    /// The providers that have identities, those that have linked ones, and those that the requested rules
    /// remove although an account has no other way to sign in; loaded for a change of rules only.
    package var usedProviders: Set<ProviderName> = []
    package var linkedProviders: Set<ProviderName> = []
    package var soleProviders: Set<ProviderName> = []
    /// The domains of second factors, of those that no provider of the requested rules has any more.
    package var lostFactorDomains: Set<String> = []

    /// Wraps a loaded part of a ledger.
    package init(ledger: LedgerState) {
        self.ledger = ledger
    }

    /// Reserves capacity for the rows that a number of commands load.
    package mutating func reserve(forCommands count: Int) {
        ledger.reserve(forCommands: count)
        directory.reserveCapacity(count)
        refreshTokens.reserveCapacity(count)
        attempts.reserveCapacity(count)
        idempotency.reserveCapacity(count)
    }

    /// Drops the attempts of an account that no longer count against a budget.
    package mutating func forgetAttempts(of account: AccountID, upTo time: Timestamp) {
        guard let known = attempts[account], known.values.contains(where: { $0 <= time }) else {
            return
        }
        attempts[account] = known.filter { $0.value > time }
    }

    /// Whether the identities of a provider are anonymous: such an identity ends when its account gets
    /// another one.
    ///
    /// Also after the rules have lost the provider, since its name stays pinned while it has identities.
    func isAnonymous(_ provider: ProviderName, under policy: TenantPolicy) -> Bool {
        type(of: provider, under: policy) == .anonymous
    }

    /// Returns the caller's account if the session is live.
    func account(of caller: Caller, at now: Timestamp) -> Account? {
        guard let session = ledger.sessions[caller.session], session.account == caller.account,
            session.endedPosition == nil,
            let tokens = refreshTokens[caller.session], now < tokens.expiresAt
        else { return nil }
        return ledger.accounts[caller.account]
    }
}

/// The account and the session of a request, from a checked access token.
package struct Caller: Hashable, Sendable {
    package let account: AccountID
    package let session: SessionID

    /// Describes a caller.
    package init(account: AccountID, session: SessionID) {
        self.account = account
        self.session = session
    }
}

/// The scope of an idempotency key: the digest of method, path and key, for one account.
package struct IdempotencyScope: Hashable, Sendable {
    package let account: AccountID
    package let digest: Digest

    /// Describes a scope.
    package init(account: AccountID, digest: Digest) {
        self.account = account
        self.digest = digest
    }
}

/// An idempotency key with the request that carried it.
package struct IdempotencyKey: Hashable, Sendable {
    /// The number of hours for which a key keeps its answer.
    package static let hours = 24

    package let scope: IdempotencyScope
    /// The digest of the request's content: the same key with other content is refused.
    package let fingerprint: Digest
    /// The name of the key of both digests; nil for digests without one.
    package let key: String?
    /// The digests of the same request by other keys, under which it may have been answered before.
    package let former: [IdempotencyKey]

    /// Describes a key and its request.
    package init(
        scope: IdempotencyScope, fingerprint: Digest, key: String? = nil,
        former: [IdempotencyKey] = []
    ) {
        self.scope = scope
        self.fingerprint = fingerprint
        self.key = key
        self.former = former
    }

    /// Every form, first the one of new rows.
    package var all: [IdempotencyKey] { [self] + former }

    /// The digests of the scope by which attempts are counted.
    var attempt: KeyedDigest {
        KeyedDigest(scope.digest, key: key, former: former.map(\.attempt))
    }
}
