/// An event as it goes into the log: the entry's bytes and what lies off the log beside them.
package struct Recording: Sendable {
    package let recorded: RecordedEvent
    package let entry: [UInt8]
    package let leaf: Digest
    /// The encoded disclosures, in the order of their digests; all about the event's first account.
    package let disclosures: [[UInt8]]
}

/// Turns decisions into recordings: gives each event its place, its time and its digests.
package struct Recorder {
    private let leafHash: HashFunction
    private let digest: HashFunction
    private let random: @Sendable (Int) -> [UInt8]

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - leafHash: hashes an entry as an RFC 6962 leaf.
    ///   - digest: plain SHA-256.
    ///   - random: unpredictable bytes, for salts and identifiers.
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
            recordings.append(recording)
        }
        for effect in decision.effects {
            state.apply(effect)
        }
        return recordings
    }

    private func record(
        _ draft: Decision.Draft, of command: Command, in ledger: LedgerState,
        at recordedAt: Timestamp
    ) -> Recording {
        let accounts = draft.event.fact.accounts
        let disclosures =
            accounts.isEmpty ? [] : draft.disclosures + command.origin.disclosures
        let committed = commit(to: disclosures)
        let bytes = random(16)
        let recorded = RecordedEvent(
            tenant: ledger.tenant, position: ledger.nextPosition,
            id: EventID(at: recordedAt, random: bytes.reduce(0) { $0 << 8 | UInt128($1) }),
            recordedAt: recordedAt, actor: draft.actor, command: command.id,
            request: command.origin.request, accounts: accounts.map { ledger.reference(to: $0) },
            disclosureDigests: committed.map(\.digest), event: draft.event)
        let entry = EntryEncoding.encode(recorded)
        return Recording(
            recorded: recorded, entry: entry, leaf: leafHash(entry),
            disclosures: committed.map(\.encoded))
    }

    /// Salts and hashes disclosures; sorted by the text of their digests, so that the order of the
    /// digests tells nothing (RFC 9901, section 4.2.4.1).
    private func commit(
        to disclosures: [Disclosure]
    ) -> [(digest: Digest, text: String, encoded: [UInt8])] {
        guard !disclosures.isEmpty else { return [] }
        let salts = random(disclosures.count * Disclosure.saltBytes)
        return disclosures.enumerated().map { index, disclosure in
            let start = index * Disclosure.saltBytes
            let encoded = disclosure.encoded(
                salt: Array(salts[start..<start + Disclosure.saltBytes]))
            let digest = digest(encoded)
            return (digest: digest, text: digest.description, encoded: encoded)
        }
        .sorted { $0.text < $1.text }
    }
}

extension DecisionState {
    /// Takes in what changed beside the log.
    package mutating func apply(_ effect: Decision.Effect) {
        switch effect {
        case .identityNamed(let subject, let identity): directory[subject] = identity
        case .attempted(let account, let attempt, let time):
            attempts[account, default: [:]][attempt] = time
        case .refreshTokens(let session, let tokens): refreshTokens[session] = tokens
        case .answered(let scope, let record): idempotency[scope] = record
        }
    }

    /// Counts a sign-in against its identity's budget.
    mutating func countSignIn(_ event: Event, at time: Timestamp) {
        guard case .signedIn(let fact) = event else { return }
        let known = signIns[fact.identity]
        signIns[fact.identity] = SignInCount(
            count: (known?.count ?? 0) + 1, earliest: known?.earliest ?? time)
    }
}
