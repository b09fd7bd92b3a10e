package import Ledger

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
    /// The code that authenticates the event at its position.
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

/// An event of the log, decoded from its entry.
package struct StoredEvent: Hashable, Sendable {
    package let recorded: RecordedEvent
    /// The exact bytes that are stored and hashed.
    package let entry: [UInt8]

    /// Decodes the entry at a position of a tenant's log.
    ///
    /// - Throws: `LogDamage` if the bytes are not an entry, or belong to another position.
    package init(
        entry: [UInt8], at position: LogPosition, in tenant: TenantID
    ) throws(LogDamage) {
        do throws(EntryFault) {
            recorded = try EntryEncoding.decode(entry)
        } catch {
            throw LogDamage(position: position, fault: error.description)
        }
        self.entry = entry
        guard recorded.tenant == tenant else {
            throw LogDamage(position: position, fault: "the entry names another tenant")
        }
        guard recorded.position == position else {
            throw LogDamage(
                position: position, fault: "the entry belongs to position \(recorded.position)")
        }
    }

    /// Decodes an entry and checks its code, if marks show which key applies.
    ///
    /// - Throws: Also `LogDamage` if no server has appended it at this position.
    package init(
        entry: [UInt8], mac: [UInt8]?, at position: LogPosition, in tenant: TenantID,
        _ protection: LogProtection?
    ) throws(LogDamage) {
        try self.init(entry: entry, at: position, in: tenant)
        if let protection { try protection.check(mac, at: position, leaf: leaf) }
    }

    /// The entry's leaf hash (RFC 6962, section 2.1); computed at each call.
    package var leaf: Digest { LogDigest.leaf(entry) }
}
