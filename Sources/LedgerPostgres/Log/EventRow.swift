package import Ledger
package import LedgerEngine

/// A stored row of `events`: the entry's bytes and the columns derived from them.
package struct EventRow: Hashable, Sendable {
    package let position: LogPosition
    /// The identifier's bits.
    package let event: UInt128
    package let type: String
    package let schemaVersion: Int64
    package let recordedAt: Timestamp
    /// The first account that the event touches.
    package let account: UInt128?
    package let accountSequence: Int64?
    package let command: UInt128
    package let request: UInt128?
    package let actor: String
    package let entry: [UInt8]
    /// The MAC that authenticates the event at its position.
    package let mac: [UInt8]?

    /// Decodes the event in the entry.
    ///
    /// - Throws: `LogDamage` if the bytes are not an entry, or not this row's.
    package func decoded(in tenant: TenantID) throws(LogDamage) -> StoredEvent {
        try StoredEvent(entry: entry, at: position, in: tenant)
    }

    /// Returns the first derived column that differs from the entry; nil if none does.
    package func differingColumn(from recorded: RecordedEvent) -> String? {
        let first = recorded.accounts.first
        if event != recorded.id.bits { return "event_id" }
        if type != recorded.event.name.rawValue { return "type" }
        if schemaVersion != recorded.event.version { return "schema_version" }
        if recordedAt != recorded.recordedAt { return "recorded_at" }
        if account != first?.id.bits { return "account_id" }
        if accountSequence != first?.sequence { return "account_seq" }
        if command != recorded.command.bits { return "command_id" }
        if request != recorded.request?.bits { return "request_id" }
        if actor != recorded.actor.columnText { return "actor" }
        return nil
    }
}
