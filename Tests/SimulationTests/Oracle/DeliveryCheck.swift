import Ledger

@testable import LedgerEngine

/// Compares what the receivers have accepted with the final logs.
struct DeliveryCheck {
    private let world: World

    init(_ world: World) {
        self.world = world
    }

    /// The events that were lost, and those that arrived before an earlier event of one of their accounts.
    ///
    /// Repetitions are allowed: only the first arrival of an event counts.
    var contradictions: [String] {
        guard world.parameters.deliversWebhooks else { return [] }
        return world.tenants.flatMap { tenant in
            let log = world.database.log(of: tenant).map(\.recorded)
            let accepted = world.endpoints.accepted(tenant)
            let arrived = Set(accepted)
            let lost = log.first { !arrived.contains($0.id.description) }.map {
                "#\($0.position) of \(tenant) was never delivered"
            }
            return [lost, firstEarly(accepted, in: log).map { "\($0) of \(tenant)" }]
                .compactMap(\.self)
        }
    }

    /// Returns the first event that was delivered too early.
    private func firstEarly(_ accepted: [String], in log: [RecordedEvent]) -> String? {
        var events: [String: RecordedEvent] = [:]
        var previous: [String: Set<String>] = [:]
        var last: [AccountID: String] = [:]
        for event in log {
            let id = event.id.description
            events[id] = event
            for account in event.accounts.map(\.id) {
                if let earlier = last.updateValue(id, forKey: account) {
                    previous[id, default: []].insert(earlier)
                }
            }
        }
        var arrived: Set<String> = []
        for id in accepted where arrived.insert(id).inserted {
            guard let event = events[id] else { return "an event that is not in the log" }
            if !previous[id, default: []].isSubset(of: arrived) {
                return "#\(event.position), delivered before an earlier event of its account,"
            }
        }
        return nil
    }
}
