package import Ledger

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

    /// The entry's leaf hash (RFC 6962, section 2.1); computed at each call.
    package var leaf: Digest { LogDigest.leaf(entry) }
}
