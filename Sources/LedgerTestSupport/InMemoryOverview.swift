package import Ledger

/// Figures of an in-memory ledger, without webhooks and messages.
package struct InMemoryOverview: OverviewReader {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the figures of some days up to a time.
    package func overview(
        days: Int, through last: Timestamp, in tenant: TenantID
    ) async throws(LedgerFault) -> Overview {
        let log = try ledger.read(tenant)
        var figures = DayFigures.days(days, through: last)
        for recorded in log.map(\.recorded) {
            let day = DayFigures.day(of: recorded.recordedAt)
            guard let place = figures.firstIndex(where: { $0.day == day }) else { continue }
            figures[place].add(1, ofType: recorded.event.name.rawValue)
        }
        let size = Int64(log.count)
        return Overview(
            days: figures, countedSize: size, logSize: size, accessLogSize: 0,
            projections: [ProjectionFigure(name: "user_providers", lag: 0, failure: nil)],
            webhooks: [], messages: ["sent": 0])
    }
}
