/// What deciding a batch of one tenant's commands needs: the loaded part of the ledger, and the
/// operational facts beside it that no event records.
package struct DecisionState: Sendable {
    /// An attempt to link or to merge, or a refused unlink, that an account's budget remembers, with how it
    /// ended: the same attempt that ends the same way counts once.
    package struct Attempt: Hashable, Sendable {
        /// What an account tried.
        package enum Action: String, Sendable {
            case link
            case unlink
            case merge
        }

        package let action: Action
        package let provider: ProviderName
        /// SHA-256 of the ID token, or of the idempotency key's scope.
        ///
        /// All zeros for an unlink, and for a merge with a known identity.
        package let digest: Digest
        /// The refusal and what it was about, or the moment of a success: each success counts.
        ///
        /// Of a merge, the known identity that was proved.
        package let outcome: String

        /// Describes an attempt.
        package init(action: Action, provider: ProviderName, digest: Digest, outcome: String) {
            self.action = action
            self.provider = provider
            self.digest = digest
            self.outcome = outcome
        }
    }

    /// How often an identity was signed in with inside its budget's window.
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

    /// A stored answer and the request that it answered.
    package struct IdempotencyRecord: Hashable, Sendable {
        package let fingerprint: Digest
        package let answer: StoredAnswer

        /// Describes what a key answered.
        package init(fingerprint: Digest, answer: StoredAnswer) {
            self.fingerprint = fingerprint
            self.answer = answer
        }
    }

    package var ledger: LedgerState
    /// Which identity a provider's subject is; identities without an account are in it, too.
    package var directory: [ProviderIdentity: IdentityID] = [:]
    package var refreshTokens: [SessionID: RefreshTokenState] = [:]
    /// When each attempt counted.
    package var attempts: [AccountID: [Attempt: Timestamp]] = [:]
    package var signIns: [IdentityID: SignInCount] = [:]
    package var idempotency: [IdempotencyScope: IdempotencyRecord] = [:]
    /// When each ID token that is to be used once opened its first session, by its digest.
    package var spentIDTokens: [Digest: Timestamp] = [:]

    /// Wraps a loaded part of a ledger.
    package init(ledger: LedgerState) {
        self.ledger = ledger
    }

    /// Makes room for what a number of commands load.
    package mutating func reserve(forCommands count: Int) {
        ledger.reserve(forCommands: count)
        directory.reserveCapacity(count)
        refreshTokens.reserveCapacity(count)
        attempts.reserveCapacity(count)
        idempotency.reserveCapacity(count)
    }

    /// Drops the attempts of an account that no budget counts any more.
    package mutating func forgetAttempts(of account: AccountID, upTo time: Timestamp) {
        guard let known = attempts[account], known.values.contains(where: { $0 <= time }) else {
            return
        }
        attempts[account] = known.filter { $0.value > time }
    }

    /// The caller's account, when the session lives.
    func account(of caller: Caller, at now: Timestamp) -> Account? {
        guard let session = ledger.sessions[caller.session], session.account == caller.account,
            session.endedPosition == nil,
            let tokens = refreshTokens[caller.session], now < tokens.expiresAt
        else { return nil }
        return ledger.accounts[caller.account]
    }
}

/// Who asks: an account through one of its sessions, as a checked access token says.
package struct Caller: Hashable, Sendable {
    package let account: AccountID
    package let session: SessionID

    /// Names a caller.
    package init(account: AccountID, session: SessionID) {
        self.account = account
        self.session = session
    }
}

/// What an idempotency key is good for: the digest of method, path and key, for one account.
package struct IdempotencyScope: Hashable, Sendable {
    package let account: AccountID
    package let digest: Digest

    /// Names a scope.
    package init(account: AccountID, digest: Digest) {
        self.account = account
        self.digest = digest
    }
}

/// An idempotency key with the request that it came with.
package struct IdempotencyKey: Hashable, Sendable {
    package let scope: IdempotencyScope
    /// The digest of the request's content: another content under the same key is refused.
    package let fingerprint: Digest

    /// Describes a key and its request.
    package init(scope: IdempotencyScope, fingerprint: Digest) {
        self.scope = scope
        self.fingerprint = fingerprint
    }
}
