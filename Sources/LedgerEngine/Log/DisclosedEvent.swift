package import Ledger

/// One event as projections receive it: decoded once, with its remaining disclosures.
///
/// A class, because pages and their slices would otherwise copy about ten references of each event.
package final class DisclosedEvent: Sendable {
    package let recorded: RecordedEvent
    package let disclosed: DisclosedValues
    /// The remaining disclosures of the `ProviderLinked` of each link that an `AccountsUnmerged`
    /// returns, by position.
    package let linked: [LogPosition: DisclosedValues]

    /// Combines an event with its remaining disclosures and those of the links that it returns.
    package init(
        recorded: RecordedEvent, disclosed: DisclosedValues,
        linked: [LogPosition: DisclosedValues] = [:]
    ) {
        self.recorded = recorded
        self.disclosed = disclosed
        self.linked = linked
    }

    package var position: LogPosition { recorded.position }

    /// Returns a link's disclosures at its creation, for the event that made it.
    ///
    /// Includes those of the next event if it is the first sign-in of the account opened with the
    /// link, which discloses the e-mail.
    package func linkDisclosures(before next: DisclosedEvent?) -> DisclosedValues {
        var values = disclosed
        if let next, case .signedIn = next.recorded.event,
            next.recorded.command == recorded.command, values.email == nil
        {
            for disclosure in next.disclosed.email?.disclosures ?? [] { _ = values.add(disclosure) }
        }
        return values
    }
}

extension RecordedEvent {
    /// The positions of the `ProviderLinked` of the links that the event returns.
    package var linkPositions: [LogPosition] {
        guard case .accountsUnmerged(let fact) = event else { return [] }
        return (fact.returned + fact.restored).map(\.position)
    }
}
