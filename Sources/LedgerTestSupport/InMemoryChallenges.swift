package import Ledger
internal import Synchronization

/// Challenges in memory, with the codes that were sent.
package final class InMemoryChallenges: ChallengeStore {
    /// A message as its recipient gets it.
    package struct Sent: Sendable {
        package let tenant: TenantID
        package let address: String
        package let message: CodeMessage
    }

    private struct State {
        var challenges: [ChallengeID: (stored: StoredChallenge, tries: Int)] = [:]
        var counts: [Digest: (count: Int, endsAt: Timestamp)] = [:]
        var sent: [Sent] = []
        /// The last ends of the device tokens of addresses and of accounts.
        var addressEnds: [AddressName: Timestamp] = [:]
        var accountEnds: [AccountID: Timestamp] = [:]
        var beforeEnds: (@Sendable () async -> Void)?

        mutating func endDevices(
            of accounts: [AccountID], in state: DecisionState, at now: Timestamp
        ) {
            for account in accounts { accountEnds[account] = now }
            for (name, address) in state.addressNames {
                guard let held = state.ledger.addresses[address], !held.isClaimed,
                    held.formerOf == nil, accounts.contains(held.account)
                else { continue }
                addressEnds[name] = now
            }
        }
    }

    private let state = Mutex(State())
    /// Creates an empty store.
    package init() {}

    /// The messages in the order in which they were sent.
    package var sent: [Sent] { state.withLock(\.sent) }

    /// The sum of the counts, and of the tries of challenges.
    package var spent: Int {
        state.withLock { state in
            state.counts.values.reduce(0) { $0 + $1.count }
                + state.challenges.values.reduce(0) { $0 + $1.tries }
        }
    }

    /// Returns the challenges of a tenant that have not ended.
    func open(in tenant: TenantID, at now: Timestamp) -> Set<ChallengeID> {
        state.withLock { state in
            Set(
                state.challenges.values.filter {
                    $0.stored.tenant == tenant && $0.stored.expiresAt > now
                }.map(\.stored.id))
        }
    }

    /// Deletes the challenges that a command has used, and ends device tokens of the accounts of a state.
    func end(_ effects: [Decision.Effect], in state: DecisionState, at now: Timestamp) {
        for effect in effects {
            switch effect {
            case .challengeSpent(let id): self.state.withLock { $0.challenges[id] = nil }
            case .challengesEndedOf(let accounts), .devicesEndedOf(let accounts):
                self.state.withLock { $0.endDevices(of: accounts, in: state, at: now) }
            case .challengesEnded(let names):
                let digests = Set(names.map(\.digest))
                self.state.withLock { state in
                    state.challenges = state.challenges.filter {
                        !digests.contains($0.value.stored.name.digest)
                    }
                }
            default: break
            }
        }
    }

    /// Stores a challenge, and its message in ``sent``.
    package func open(
        _ challenge: StoredChallenge, _ message: CodeMessage, counting counts: [CodeCount],
        at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount? {
        state.withLock { state in
            if let known = state.challenges[challenge.id], known.stored.expiresAt > now {
                return nil
            }
            if let reached = Self.count(counts, in: &state, at: now) { return reached }
            state.challenges[challenge.id] = (stored: challenge, tries: 0)
            if message.isSent {
                state.sent.append(
                    Sent(tenant: challenge.tenant, address: challenge.address, message: message))
            }
            return nil
        }
    }

    /// Counts one more try of a challenge, and compares its code.
    package func tryCode(
        of id: ChallengeID, in tenant: TenantID, at now: Timestamp,
        _ compare: @escaping @Sendable (StoredChallenge) -> ComparedCode
    ) async throws(LedgerFault) -> TriedCode? {
        state.withLock { state in
            guard let known = state.challenges[id], known.stored.tenant == tenant,
                known.stored.expiresAt > now, known.tries < StoredChallenge.triesMax
            else { return nil }
            state.challenges[id]?.tries += 1
            let compared = compare(known.stored)
            var counted = state
            let reached = Self.count(compared.counts, in: &counted, at: now)
            if !compared.isRight {
                state = counted
            } else if reached == nil {
                if known.tries == 0 { Self.lower(compared.lowers, in: &state) }
                if compared.isUsedUp { state.challenges[id]?.tries = StoredChallenge.triesMax }
            }
            return TriedCode(compared, of: known.stored, wait: reached?.waitSeconds)
        }
    }

    /// Adds one to counts, unless one of them has reached its limit.
    package func count(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount? {
        state.withLock { Self.count(counts, in: &$0, at: now) }
    }

    /// Returns a count that has reached its limit.
    package func reached(
        _ counts: [CodeCount], in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> ReachedCount? {
        state.withLock { state in
            var counted = state
            return Self.count(counts, in: &counted, at: now)
        }
    }

    /// Subtracts one from counts.
    package func uncount(
        _ counts: [CodeCount], in tenant: TenantID
    ) async throws(LedgerFault) {
        state.withLock { Self.lower(counts, in: &$0) }
    }

    /// Calls a body once, before the next read of the last end of device tokens.
    package func beforeNextRead(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.beforeEnds = body }
    }

    /// Returns the last end of the device tokens of an address or an account.
    package func devicesEnded(
        of names: [AddressName], _ account: AccountID?, in tenant: TenantID
    ) async throws(LedgerFault) -> Timestamp? {
        let body = state.withLock { state in
            defer { state.beforeEnds = nil }
            return state.beforeEnds
        }
        await body?()
        return state.withLock { state in
            (names.map { state.addressEnds[$0] } + [account.flatMap { state.accountEnds[$0] }])
                .compactMap(\.self).max()
        }
    }

    private static func lower(_ counts: [CodeCount], in state: inout State) {
        for count in counts {
            let known = state.counts[count.scope]?.count ?? 0
            state.counts[count.scope]?.count = max(0, known - 1)
        }
    }

    private static func count(
        _ counts: [CodeCount], in state: inout State, at now: Timestamp
    ) -> ReachedCount? {
        var after = state.counts
        for count in counts {
            let known = after[count.scope].flatMap { $0.endsAt > now ? $0 : nil }
            let next = (
                count: (known?.count ?? 0) + 1,
                endsAt: known?.endsAt ?? now.adding(seconds: count.windowSeconds)
            )
            guard next.count <= count.limit else {
                return ReachedCount(
                    count.kind, waitSeconds: max(1, next.endsAt.seconds - now.seconds))
            }
            after[count.scope] = next
        }
        state.counts = after
        return nil
    }
}
