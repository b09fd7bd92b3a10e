/// An event as shown by a replay.
package struct ReplayedEvent: Hashable, Sendable {
    package let recorded: RecordedEvent
    /// The exact bytes that are stored and hashed.
    package let entry: [UInt8]
    /// The entry's leaf hash (RFC 6962, section 2.1).
    package let leaf: Digest
    /// The disclosures that have not been destroyed; nil when the replay does not disclose.
    package let disclosed: DisclosedValues?

    /// Describes an event.
    package init(
        recorded: RecordedEvent, entry: [UInt8], leaf: Digest, disclosed: DisclosedValues?
    ) {
        self.recorded = recorded
        self.entry = entry
        self.leaf = leaf
        self.disclosed = disclosed
    }
}
