/// The numbers of events of one day, in UTC.
package struct DayFigures: Hashable, Sendable {
    /// Such as `2026-11-26`.
    package let day: String
    private var counts: [Event.Name: Int64] = [:]

    /// Starts a day without events.
    package init(day: String) {
        self.day = day
    }

    /// Adds events of a type; a type that this program does not know counts among all events.
    package mutating func add(_ count: Int64, ofType type: String) {
        events += count
        if let name = Event.Name(rawValue: type) { counts[name, default: 0] += count }
    }

    /// The number of all events.
    package private(set) var events: Int64 = 0

    /// Returns the number of events of some types.
    package func count(of names: Event.Name...) -> Int64 {
        names.reduce(0) { $0 + (counts[$1] ?? 0) }
    }

    /// The number of refusals, conflicts included.
    package var refusals: Int64 {
        count(
            of: .conflictRejected, .linkRejected, .unlinkRejected, .signInThrottled,
            .secondFactorRefused)
    }

    /// Returns the days up to one, without events and the earliest first.
    package static func days(_ count: Int, through last: Timestamp) -> [DayFigures] {
        (0..<Int64(count)).reversed().map { back in
            DayFigures(day: day(of: last.adding(seconds: -86_400 * back)))
        }
    }

    /// Returns the day of a time, in UTC.
    package static func day(of time: Timestamp) -> String { String(time.description.prefix(10)) }
}

/// The progress of a read model of one tenant.
package struct ProjectionFigure: Hashable, Sendable {
    package let name: String
    /// The number of events that it does not include yet.
    package let lag: Int64
    /// Why it has stopped; nil while it has not.
    package let failure: String?

    /// Describes a read model.
    package init(name: String, lag: Int64, failure: String?) {
        self.name = name
        self.lag = lag
        self.failure = failure
    }
}

/// The deliveries of an endpoint of webhooks.
package struct WebhookFigure: Hashable, Sendable {
    /// The maximum number of deliveries that are counted.
    package static let countMax: Int64 = 1_000

    package let endpoint: EntityID<WebhookFigure>
    package let isDisabled: Bool
    /// The number of events that it has not taken up yet.
    package let lag: Int64
    /// The numbers of deliveries that wait or were given up, at most ``countMax`` together.
    package let pending: Int64
    package let deadLetters: Int64

    /// Describes an endpoint.
    package init(
        endpoint: EntityID<WebhookFigure>, isDisabled: Bool, lag: Int64, pending: Int64,
        deadLetters: Int64
    ) {
        self.endpoint = endpoint
        self.isDisabled = isDisabled
        self.lag = lag
        self.pending = pending
        self.deadLetters = deadLetters
    }
}

/// The figures and states of one tenant's ledger.
package struct Overview: Sendable {
    /// The maximum number of the last messages that are counted.
    package static let messagesMax: Int64 = 10_000

    /// The earliest first, without gaps.
    package let days: [DayFigures]
    /// The number of events that the figures of days include.
    package let countedSize: Int64
    package let logSize: Int64
    package let accessLogSize: Int64
    package let projections: [ProjectionFigure]
    package let webhooks: [WebhookFigure]
    /// The numbers of the last messages by state.
    package let messages: [String: Int64]

    /// Collects the figures.
    package init(
        days: [DayFigures], countedSize: Int64, logSize: Int64, accessLogSize: Int64,
        projections: [ProjectionFigure], webhooks: [WebhookFigure], messages: [String: Int64]
    ) {
        self.days = days
        self.countedSize = countedSize
        self.logSize = logSize
        self.accessLogSize = accessLogSize
        self.projections = projections
        self.webhooks = webhooks
        self.messages = messages
    }
}

/// Reads figures and states; the work is bounded, whatever the size of the log.
package protocol OverviewReader: Sendable {
    /// Returns the figures of some days up to a time, and the states of now.
    func overview(
        days: Int, through last: Timestamp, in tenant: TenantID
    ) async throws(LedgerFault) -> Overview
}
