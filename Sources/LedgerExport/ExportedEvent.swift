package import Ledger
package import TransparencyLog

/// An event as an export reads it from the ledger.
package struct ExportedEvent: Sendable {
    /// A disclosure in the form that its digest covers, and its value.
    package typealias OpenDisclosure = (encoded: [UInt8], disclosure: Disclosure)

    package let recorded: RecordedEvent
    /// The exact bytes that are stored and hashed.
    package let entry: [UInt8]
    /// The disclosures that were not destroyed; empty unless the export may disclose.
    package let disclosures: [OpenDisclosure]
    /// The siblings from the event's leaf to the root of the bundle's checkpoint; nil in a bundle
    /// of the whole log.
    package let path: [TreeHash]?

    /// Collects the exported data of an event.
    package init(
        recorded: RecordedEvent, entry: [UInt8], disclosures: [OpenDisclosure],
        path: [TreeHash]?
    ) {
        self.recorded = recorded
        self.entry = entry
        self.disclosures = disclosures
        self.path = path
    }
}

/// A part of an export, which is written at once.
package struct ExportedPart: Sendable {
    /// The maximum number of events of a part.
    package static let eventsMax = 2_000

    /// The notes of the checkpoints whose last entry is in this part, smallest first.
    package let checkpoints: [String]
    /// Events in the order of their positions.
    package let events: [ExportedEvent]

    /// Collects a part.
    package init(checkpoints: [String], events: [ExportedEvent]) {
        self.checkpoints = checkpoints
        self.events = events
    }
}
