/// An event that began or ended a holding.
package struct HoldingMark: Hashable, Sendable {
    package let mark: LogMark
    package let event: EventID
    package let type: Event.Name

    /// Names an event.
    package init(_ recorded: RecordedEvent) {
        mark = LogMark(position: recorded.position, recordedAt: recorded.recordedAt)
        event = recorded.id
        type = recorded.event.name
    }
}

/// The accounts that held an identity, in order, as far as the log was read.
package struct IdentityHoldings: Hashable, Sendable {
    /// A range of the log in which an account held the identity.
    package struct Holding: Hashable, Sendable {
        package let account: AccountID
        package let from: HoldingMark
        /// Nil while it lasts, as far as the log was read.
        package let until: HoldingMark?

        /// Describes a range.
        package init(account: AccountID, from: HoldingMark, until: HoldingMark?) {
            self.account = account
            self.from = from
            self.until = until
        }
    }

    package let identity: IdentityID
    package let holdings: [Holding]
    /// The position after the last one that was read.
    package let end: LogPosition
    package let logSize: Int64

    /// Whether the log was read to its end.
    package var isComplete: Bool { end.value >= logSize }

    /// Collects holdings.
    package init(
        identity: IdentityID, holdings: [Holding], end: LogPosition, logSize: Int64
    ) {
        self.identity = identity
        self.holdings = holdings
        self.end = end
        self.logSize = logSize
    }
}

/// Collects the holdings of an identity, with the events that began and ended them.
package struct HoldingCollection: Sendable {
    private var fold: HoldingFold
    private var begun: HoldingMark?
    /// The holdings that have ended.
    private var ended: [IdentityHoldings.Holding] = []

    /// Starts before the identity was ever linked.
    package init(of identity: IdentityID) {
        fold = HoldingFold(of: identity)
    }

    /// All holdings so far, in order.
    package var holdings: [IdentityHoldings.Holding] {
        guard let current = fold.current, let begun else { return ended }
        return ended + [
            IdentityHoldings.Holding(account: current.account, from: begun, until: nil)
        ]
    }

    /// Applies an event that names the identity, or one of ``HoldingFold/unnamed``.
    ///
    /// - Throws: `FoldFault` when it contradicts earlier ones.
    package mutating func apply(_ recorded: RecordedEvent) throws(FoldFault) {
        let mark = HoldingMark(recorded)
        if let holding = try fold.apply(recorded), let from = begun {
            ended.append(
                IdentityHoldings.Holding(account: holding.account, from: from, until: mark))
        }
        if fold.current?.from.position == recorded.position { begun = mark }
    }
}

/// Reads which accounts held identities.
package protocol OwnerReader: Sendable {
    /// Returns the accounts that held an identity; nil when none did, as far as the log was read.
    ///
    /// The work is bounded: ``IdentityHoldings/end`` says how far the log was read, from the time
    /// in the identity's id on.
    func owners(
        of identity: IdentityID, in tenant: TenantID
    ) async throws(HistoryFault) -> IdentityHoldings?
}
