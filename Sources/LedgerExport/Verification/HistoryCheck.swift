internal import Cryptography
internal import Ledger
internal import TransparencyLog

/// Checks that entries are consistent in themselves and with each other.
struct HistoryCheck {
    /// The end of an account's history so far.
    private struct Tail {
        var nextSequence: Int64
        var leaf: Digest
        var position: Int64
    }

    private let head: BundleHead
    private var tails: ContiguousArray<Tail> = []
    /// The indexes of the tails, which would make a dictionary's free entries three times as large.
    private var indexes: [AccountID: UInt32] = [:]
    private var recordedAt: Timestamp?
    private(set) var disclosures: DisclosureTally

    init(_ head: BundleHead) {
        self.head = head
        disclosures = DisclosureTally(head)
    }

    /// The number of accounts that have appeared.
    var accounts: Int { tails.count }

    /// Returns the last `seq` of an account, and its position.
    func last(of account: AccountID) -> BundleReport.Last? {
        indexes[account].map {
            let tail = tails[Int($0)]
            return BundleReport.Last(sequence: tail.nextSequence - 1, position: tail.position)
        }
    }

    /// Checks the next event.
    mutating func take(_ line: BundleLine, leaf: TreeHash) throws(BundleFault) {
        let recorded: RecordedEvent
        do throws(EntryFault) {
            recorded = try EntryEncoding.decode(line.entry)
        } catch {
            if head.isOfNewerRelease, error == .unknownType || error == .unknownVersion {
                throw BundleFault(
                    "the bundle was made by a newer release, which can verify it: \(error)",
                    at: line.position)
            }
            throw BundleFault("\(error)", at: line.position)
        }
        guard recorded.tenant == head.tenant else {
            throw BundleFault("the entry is of another tenant", at: line.position)
        }
        guard recorded.position.value == line.position else {
            throw BundleFault("the entry states another position", at: line.position)
        }
        if let recordedAt, recorded.recordedAt < recordedAt {
            throw BundleFault("recorded_at goes back", at: line.position)
        }
        recordedAt = recorded.recordedAt
        try follow(recorded, leaf: leaf)
        try check(line.disclosures, of: recorded)
    }

    private mutating func follow(_ recorded: RecordedEvent, leaf: TreeHash) throws(BundleFault) {
        guard let digest = Digest(leaf.bytes) else { preconditionFailure("a hash has 32 bytes") }
        var isTouched = false
        for reference in recorded.accounts {
            if case .account(let account) = head.scope {
                guard reference.id == account else { continue }
            }
            isTouched = true
            let index = indexes[reference.id].map { Int($0) }
            let tail = index.map { tails[$0] }
            guard reference.sequence == tail?.nextSequence ?? 0 else {
                throw BundleFault(
                    "seq of account \(reference.id) is \(reference.sequence), not "
                        + "\(tail?.nextSequence ?? 0)", at: recorded.position.value)
            }
            guard reference.previous == tail?.leaf else {
                throw BundleFault(
                    "the entry is not the one that position \(recorded.position) names as prev of "
                        + "account \(reference.id)", at: tail?.position ?? recorded.position.value)
            }
            let next = Tail(
                nextSequence: reference.sequence + 1, leaf: digest,
                position: recorded.position.value)
            if let index {
                tails[index] = next
            } else {
                indexes[reference.id] = UInt32(tails.count)
                tails.append(next)
            }
        }
        if case .account(let account) = head.scope, !isTouched {
            throw BundleFault(
                "the entry does not touch account \(account)", at: recorded.position.value)
        }
    }

    private mutating func check(
        _ texts: [String], of recorded: RecordedEvent
    ) throws(BundleFault) {
        guard texts.isEmpty || head.isDisclosed else {
            throw BundleFault(
                "the bundle has disclosures but declares none", at: recorded.position.value)
        }
        guard texts.isEmpty || disclosures.admits(recorded) else {
            throw BundleFault("a disclosure is about another account", at: recorded.position.value)
        }
        var seen: Set<Digest> = []
        for text in texts {
            guard
                let digest = Digest(SHA256.hash(text)),
                recorded.disclosureDigests.contains(digest), seen.insert(digest).inserted
            else {
                throw BundleFault(
                    "a disclosure's digest is not in the entry", at: recorded.position.value)
            }
        }
        // Each digest needs its disclosure, so a forger without the account's key can only omit
        // some.
        if let shortfall = recorded.shortfall {
            throw BundleFault(
                "the entry commits to \(shortfall.count) disclosures, and every event of its kind to "
                    + "at least \(shortfall.required)", at: recorded.position.value)
        }
        disclosures.take(recorded, shown: seen.count)
    }
}
