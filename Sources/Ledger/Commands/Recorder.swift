/// An event to append: the entry's bytes and the data beside the log.
///
/// A class, because a batch passes each one on several times.
package final class Recording: Sendable {
    package let recorded: RecordedEvent
    package let entry: [UInt8]
    package let leaf: Digest
    /// The encoded disclosures, in the order of their digests; all about the event's first account.
    package let disclosures: [[UInt8]]
    /// The disclosed values, in no particular order.
    package let disclosed: [Disclosure]

    init(
        recorded: RecordedEvent, entry: [UInt8], leaf: Digest, disclosures: [[UInt8]],
        disclosed: [Disclosure]
    ) {
        self.recorded = recorded
        self.entry = entry
        self.leaf = leaf
        self.disclosures = disclosures
        self.disclosed = disclosed
    }
}

/// Turns decisions into recordings: assigns each event its position, its time and its digests.
package struct Recorder {
    private static let idBytes = 16

    private let leafHash: HashFunction
    private let digest: HashFunction
    private let random: @Sendable (Int) -> [UInt8]

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - leafHash: hashes an entry as an RFC 6962 leaf.
    ///   - digest: plain SHA-256.
    ///   - random: returns unpredictable bytes, for salts and identifiers.
    package init(
        leafHash: @escaping HashFunction, digest: @escaping HashFunction,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.leafHash = leafHash
        self.digest = digest
        self.random = random
    }

    /// Records a decision's drafts and applies them and its effects to the state.
    ///
    /// - Throws: `FoldFault` when a draft cannot follow on the state: `decide` and `apply` disagree.
    package func record(
        _ decision: Decision, of command: Command, into state: inout DecisionState,
        at now: Timestamp
    ) throws(FoldFault) -> [Recording] {
        var recordings: [Recording] = []
        let recordedAt = max(now, state.ledger.lastRecordedAt)
        for draft in decision.drafts {
            let recording = record(draft, of: command, in: state.ledger, at: recordedAt)
            try state.ledger.apply(recording.recorded, leaf: recording.leaf)
            state.countSignIn(draft.event, at: recordedAt)
            state.noteUse(of: draft.event, at: recordedAt)
            recordings.append(recording)
        }
        for effect in decision.effects {
            state.apply(effect.naming(recordings))
        }
        return recordings
    }

    private func record(
        _ draft: Decision.Draft, of command: Command, in ledger: LedgerState,
        at recordedAt: Timestamp
    ) -> Recording {
        let accounts = draft.event.fact.accounts
        let disclosures =
            accounts.isEmpty || !draft.disclosesRequest
            ? draft.disclosures : draft.disclosures + command.origin.disclosures
        // One draw for the event's identifier and all salts: each draw costs more than its bytes.
        let bytes = random(Self.idBytes + disclosures.count * Disclosure.saltBytes)
        let committed = commit(to: disclosures, salts: bytes.dropFirst(Self.idBytes))
        let recorded = RecordedEvent(
            tenant: ledger.tenant, position: ledger.nextPosition,
            id: EventID(
                at: recordedAt,
                random: bytes.prefix(Self.idBytes).reduce(0) { $0 << 8 | UInt128($1) }),
            recordedAt: recordedAt, actor: draft.actor, command: command.id,
            request: command.origin.request, accounts: accounts.map { ledger.reference(to: $0) },
            disclosureDigests: committed.map(\.digest), event: draft.event)
        let entry = EntryEncoding.encode(recorded)
        return Recording(
            recorded: recorded, entry: entry, leaf: leafHash(entry),
            disclosures: committed.map(\.encoded), disclosed: disclosures)
    }

    /// Salts and hashes disclosures, sorted by the text of their digests so that the order reveals
    /// nothing (RFC 9901, section 4.2.4.1).
    private func commit(
        to disclosures: [Disclosure], salts: ArraySlice<UInt8>
    ) -> [(digest: Digest, encoded: [UInt8])] {
        var committed: [(digest: Digest, encoded: [UInt8])] = []
        committed.reserveCapacity(disclosures.count)
        for (index, disclosure) in disclosures.enumerated() {
            let salt = salts.dropFirst(index * Disclosure.saltBytes).prefix(Disclosure.saltBytes)
            let encoded = disclosure.encoded(salt: Array(salt))
            committed.append((digest: digest(encoded), encoded: encoded))
        }
        committed.sort { $0.digest.sortsAsText(before: $1.digest) }
        return committed
    }
}

extension DecisionState {
    /// Applies a change beside the log.
    package mutating func apply(_ effect: Decision.Effect) {
        switch effect {
        case .identityNamed(let subject, let identity): directory[subject] = identity
        case .attempted(let account, let attempt, let time):
            attempts[account, default: [:]][attempt] = time
        case .refreshTokens(let session, let tokens):
            refreshTokens[session] = tokens
            if let exchanged = tokens.preceding?.exchangedAt,
                let identity = ledger.sessions[session]?.identity
            {
                noteUse(of: identity, at: exchanged)
            }
        case .answered(let scope, let record): idempotency[scope] = record
        case .erasureAsked(let request): erasureRequests[request.account] = request
        case .erasureRequestEnded(let account): erasureRequests[account] = nil
        case .idTokenSpent(let token, let time): spentIDTokens[token.digest] = time
        case .addressNamed(let name, let address): addressNames[name] = address
        case .accountNamed(let name, let position): names[name] = position
        case .factorStored(let factor):
            factorCounters[factor.id] = factor.counter
            factorKeys[factor.id] = factor.key
        case .factorUsed(let factor, let counter): factorCounters[factor] = counter
        case .passwordStored(let identity, let password):
            passkeyCounts[identity] = password.passkeyCount
        // None is in the state.
        case .challengesEnded, .challengesEndedOf, .devicesEndedOf, .factorChanged: break
        case .challengeSpent(let challenge): openChallenges.remove(challenge)
        case .forgotten(let account): forget(account)
        }
    }

    /// Drops the operational facts about an account that has just been erased.
    private mutating func forget(_ account: AccountID) {
        attempts[account] = nil
        erasureRequests[account] = nil
        idempotency = idempotency.filter { $0.key.account != account }
        for (id, session) in ledger.sessions where session.account == account {
            refreshTokens[id]?.forget()
        }
        directory = directory.keeping { !isForgotten($0) }
        signIns = signIns.filter { !isForgotten($0.key) }
        addressNames = addressNames.keeping { ledger.addresses[$0] != nil }
        identityUses = identityUses.filter { !isForgotten($0.key) }
        lostNumbers = lostNumbers.filter { !isForgotten($0) }
        names = names.filter { ledger.names[$0.value] != nil }
    }

    /// Notes the proof or the loss of a phone number, or the use of an identity, by an event.
    package mutating func noteUse(of event: Event, at time: Timestamp) {
        switch event {
        case .addressConfirmed(let fact) where fact.kind == .phone:
            for user in directory.users(of: fact.address) { noteUse(of: user, at: time) }
        case .addressChanged(let fact) where fact.kind == .phone:
            for user in directory.users(of: fact.address) { noteUse(of: user, at: time) }
        case .addressReleased(let fact):
            lostNumbers.formUnion(directory.users(of: fact.address))
        case .providerLinked(let fact): noteUse(of: fact.identity, at: time)
        case .signedIn(let fact): noteUse(of: fact.identity, at: time)
        default: break
        }
    }

    /// Notes a use of an identity; an earlier one than is known changes nothing, as a clock may be set back.
    package mutating func noteUse(of identity: IdentityID, at time: Timestamp) {
        identityUses[identity] = max(time, identityUses[identity] ?? time)
    }

    private func isForgotten(_ identity: IdentityID) -> Bool {
        ledger.identities[identity].map(ledger.isForgotten) ?? false
    }

    /// Counts a sign-in against its identity's budget, which begins anew with each link.
    mutating func countSignIn(_ event: Event, at time: Timestamp) {
        if case .providerLinked(let fact) = event { signIns[fact.identity] = nil }
        guard case .signedIn(let fact) = event else { return }
        let known = signIns[fact.identity]
        signIns[fact.identity] = SignInCount(
            count: (known?.count ?? 0) + 1, earliest: known?.earliest ?? time)
    }
}
