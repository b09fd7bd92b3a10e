/// An event as a replay shows it.
package struct ReplayedEvent: Hashable, Sendable {
    package let recorded: RecordedEvent
    /// The exact bytes that are stored and hashed.
    package let entry: [UInt8]
    /// The entry's leaf hash (RFC 6962, section 2.1).
    package let leaf: Digest
    /// What the event still discloses; nil when the replay was not asked to disclose.
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
