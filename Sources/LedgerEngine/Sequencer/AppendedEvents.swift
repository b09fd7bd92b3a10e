package import Ledger

/// The events that one commit appended to one tenant's log, in order.
package struct AppendedEvents: Sendable {
    package let tenant: TenantID
    package let events: [DisclosedEvent]

    /// Whether an account was erased.
    package var hasErasure: Bool {
        events.contains { event in
            if case .accountErased = event.recorded.event { true } else { false }
        }
    }

    init(_ appended: TenantRecordings) {
        tenant = appended.tenant
        events = appended.recordings.map { recording in
            DisclosedEvent(
                recorded: recording.recorded, disclosed: DisclosedValues(recording.disclosed))
        }
    }
}
