package import Ledger
package import TransparencyLog

/// A sealer's state outside the database: keys, the last signature, and the erasures it saw.
///
/// A database that was rolled back, or changed by its owner, can't change this record. A directory in
/// production; memory in a simulation.
package protocol SealerRecord: Sendable {
    /// Returns the tenants that have a record, in order.
    func tenants() throws(SealerRecordFault) -> [TenantID]

    /// Returns the record of a tenant's log.
    ///
    /// `mayBegin` allows the first key of a tenant to be created when it has no record.
    func logState(
        of tenant: TenantID, mayBegin: Bool
    ) throws(SealerRecordFault) -> SealerLogRecord

    /// Durably records the checkpoint about to be signed in place of the previous one, nil for none.
    ///
    /// Throws `.outdated` when the record holds another one: another sealer has signed.
    func write(
        _ signed: LastSigned, after previous: Checkpoint?, of tenant: TenantID
    ) throws(SealerRecordFault)

    /// Durably adds erasures to the list of those seen, without duplicates.
    func add(_ erasures: [SeenErasure], of tenant: TenantID) throws(SealerRecordFault)
}

/// The record of one tenant's log outside the database.
package struct SealerLogRecord: Sendable {
    /// The log's name.
    package let origin: NoteKeyName
    /// The keys that sign, at least one.
    package let signers: [NoteSigner]
    /// The signing keys and the retired ones.
    package let verifiers: [NoteVerifier]
    /// The last signed checkpoint under this origin, or nil.
    package let last: LastSigned?

    /// Creates the record of a log.
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
    /// The exact text of the signed note.
    package let note: String

    /// Pairs a checkpoint with its note.
    package init(checkpoint: Checkpoint, note: String) {
        self.checkpoint = checkpoint
        self.note = note
    }
}

/// Why the record can't be used or written.
package enum SealerRecordFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another sealer has recorded another signature in the meantime.
    case outdated
    /// A log that was sealed before has no record: it is lost, or this is another ledger's.
    case missing(String)
    /// The record can't be read, written or trusted.
    case damaged(String)

    package var description: String {
        switch self {
        case .outdated: "another sealer has signed in the meantime"
        case .missing(let what), .damaged(let what): what
        }
    }
}

/// The erasure of an account, as recorded in the log.
///
/// Kept outside the database, so that a restore of an older one can't bring the person back unnoticed.
package struct SeenErasure: Hashable, Sendable {
    package let position: Int64
    package let account: AccountID
    package let recordedAt: Timestamp

    /// Creates an erasure.
    package init(position: Int64, account: AccountID, recordedAt: Timestamp) {
        self.position = position
        self.account = account
        self.recordedAt = recordedAt
    }
}
