package import Ledger
package import TransparencyLog

/// What a sealer keeps outside of the database: keys, what it signed last, and the erasures it saw.
///
/// A database that was set back, or changed by whoever owns it, can't take this along. In production a
/// directory; memory in a simulation.
package protocol SealerRecord: Sendable {
    /// The tenants of which anything is kept, in order.
    func tenants() throws(SealerRecordFault) -> [TenantID]

    /// What is kept of a tenant's log.
    ///
    /// `mayBegin` allows the first key of a tenant to be made where nothing is kept of it.
    func standing(
        of tenant: TenantID, mayBegin: Bool
    ) throws(SealerRecordFault) -> SealerStanding

    /// Writes down what is about to be signed in the place of what was signed before, nil for nothing;
    /// durable when this comes back.
    ///
    /// Throws `.outdated` when anything else is written down: somebody else has signed.
    func write(
        _ signed: LastSigned, after previous: Checkpoint?, of tenant: TenantID
    ) throws(SealerRecordFault)

    /// Adds erasures to the list of those seen, but for the ones that are in it; durable when this comes
    /// back.
    func add(_ erasures: [SeenErasure], of tenant: TenantID) throws(SealerRecordFault)
}

/// What is kept of one tenant's log outside of the database.
package struct SealerStanding: Sendable {
    /// The log's name.
    package let origin: NoteKeyName
    /// The keys that sign, at least one.
    package let signers: [NoteSigner]
    /// These, and the keys that signed before them.
    package let verifiers: [NoteVerifier]
    /// What was signed last under this origin; nil when nothing was.
    package let last: LastSigned?

    /// Describes what is kept.
    package init(
        origin: NoteKeyName, signers: [NoteSigner], verifiers: [NoteVerifier], last: LastSigned?
    ) {
        self.origin = origin
        self.signers = signers
        self.verifiers = verifiers
        self.last = last
    }
}

/// A checkpoint and the note that signs it.
package struct LastSigned: Hashable, Sendable {
    package let checkpoint: Checkpoint
    /// The signed note, to the letter.
    package let note: String

    /// Pairs a checkpoint with its note.
    package init(checkpoint: Checkpoint, note: String) {
        self.checkpoint = checkpoint
        self.note = note
    }
}

/// Why the record can't be used or written.
package enum SealerRecordFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another sealer has written down more, or something else, meanwhile.
    case outdated
    /// Nothing is kept of a log that was sealed before: the record is lost, or another ledger's.
    case missing(String)
    /// What is kept can't be read, written or trusted.
    case damaged(String)

    package var description: String {
        switch self {
        case .outdated: "another sealer has signed meanwhile"
        case .missing(let what), .damaged(let what): what
        }
    }
}

/// That an account was erased, as the log says it.
///
/// Kept outside of the database, so that a restore of an older one can't bring the person back unseen.
package struct SeenErasure: Hashable, Sendable {
    package let position: Int64
    package let account: AccountID
    package let recordedAt: Timestamp

    /// Describes an erasure.
    package init(position: Int64, account: AccountID, recordedAt: Timestamp) {
        self.position = position
        self.account = account
        self.recordedAt = recordedAt
    }
}
