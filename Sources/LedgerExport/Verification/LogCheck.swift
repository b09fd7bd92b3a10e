internal import Cryptography
internal import JSON
internal import Ledger
internal import TransparencyLog

/// Checks the entries of a bundle against its checkpoints, part by part.
final class LogCheck {
    private let head: BundleHead
    private let keys: [NoteVerifier]
    private var history: HistoryCheck
    private var tree = CompactRange()
    private var last: Int64 = -1
    private var events: Int64 = 0
    private var checkpoints: Int64 = 0
    private var unsignedCheckpoints: Int64 = 0
    /// The checkpoints of this part that were not reached yet.
    private var ahead: ArraySlice<Checkpoint> = []
    /// The size of the last checkpoint that was confirmed.
    private var verifiedSize: Int64 = 0

    init(_ head: BundleHead, _ keys: [NoteVerifier]) {
        self.head = head
        self.keys = keys
        history = HistoryCheck(head)
    }

    /// Reads the files of a part.
    func take(part: Int, from members: BundleMembers) throws {
        if members.name == BundleFiles.checkpoints(part) {
            ahead = try list(part, from: members)[...]
        }
        try members.eachLine(of: BundleFiles.entries(part)) { line in
            try take(BundleLine(parsing: line, after: last))
        }
        guard ahead.isEmpty else {
            throw BundleFault("a checkpoint is beyond the entries of its part", at: last + 1)
        }
    }

    /// Checks the end, and completes the report.
    func finish(_ report: inout BundleReport) throws(BundleFault) {
        switch head.scope {
        case .all:
            guard events == head.checkpoint.size else {
                throw BundleFault(
                    "the bundle has \(events) entries, the checkpoint covers \(head.checkpoint.size)",
                    at: min(events, head.checkpoint.size))
            }
            guard tree.root == head.checkpoint.root else { throw otherRoot(head.checkpoint) }
        case .account(let account):
            guard events > 0 else {
                throw BundleFault("the bundle has no entry of account \(account)")
            }
            report.last = history.last(of: account)
        }
        if let withheld = history.disclosures.withheld {
            throw BundleFault(
                "\(withheld.count) disclosures are WITHHELD from here on: nothing in the bundle "
                    + "erased their account", at: withheld.position)
        }
        report.events = events
        report.accounts = history.accounts
        report.checkpoints += checkpoints
        report.unsignedCheckpoints += unsignedCheckpoints
        report.disclosures = history.disclosures.shown
        report.redactedDisclosures = history.disclosures.redacted
        report.leftOutDisclosures = history.disclosures.leftOut
    }

    private func list(_ part: Int, from members: BundleMembers) throws -> [Checkpoint] {
        var list: [Checkpoint] = []
        try members.eachLine(of: BundleFiles.checkpoints(part)) { line in
            let note = JSONValue(parsing: line)?.members?["note"]?.string
            let signed = try SignedCheckpointLine(note, keys)
            guard signed.checkpoint.origin == head.checkpoint.origin else {
                throw BundleFault("a listed checkpoint is of another log")
            }
            guard list.count < BundleFiles.checkpointsMax else {
                throw BundleFault("a part has more checkpoints than entries")
            }
            list.append(signed.checkpoint)
            unsignedCheckpoints += signed.isSigned ? 0 : 1
        }
        return list
    }

    private func take(_ line: BundleLine) throws(BundleFault) {
        let leaf = TreeHash.leaf(line.entry)
        switch head.scope {
        case .all:
            guard line.position == last + 1 else {
                throw BundleFault("the entry is missing", at: last + 1)
            }
        case .account:
            guard line.position > last else {
                throw BundleFault("the entries are not in order", at: line.position)
            }
            try prove(line, leaf)
        }
        try history.take(line, leaf: leaf)
        last = line.position
        events += 1
        guard head.scope == .all else { return }
        tree.append(leaf)
        while let next = ahead.first, next.size <= tree.size {
            guard next.size == tree.size else {
                throw BundleFault("the checkpoints are not in order", at: last)
            }
            guard next.root == tree.root else { throw otherRoot(next) }
            ahead.removeFirst()
            checkpoints += 1
            verifiedSize = next.size
        }
    }

    private func prove(_ line: BundleLine, _ leaf: TreeHash) throws(BundleFault) {
        guard let path = line.path else {
            throw BundleFault("the proof is missing", at: line.position)
        }
        let proof = InclusionProof(
            position: line.position, size: head.checkpoint.size, path: path)
        do throws(ProofFault) {
            try proof.verify(leaf: leaf, root: head.checkpoint.root)
        } catch {
            throw BundleFault(
                "the proof does not lead from the entry to the checkpoint", at: line.position)
        }
    }

    private func otherRoot(_ checkpoint: Checkpoint) -> BundleFault {
        BundleFault(
            "an entry from here to position \(checkpoint.size - 1) is not what was signed: the "
                + "root over \(checkpoint.size) entries differs", at: verifiedSize)
    }
}
