/// Opens a tenant's log; answers the same when it is open.
package struct OpenLedger: Sendable {
    package let fact: LedgerOpened
    /// The first pepper.
    private let pepper: KeyRotated?

    /// Requests a log with this opening and the pepper of its passwords, if they have one.
    ///
    /// A log that is open gets no pepper: another process may have opened it, with other keys.
    package init(_ fact: LedgerOpened, pepper: KeyRotated? = nil) {
        self.fact = fact
        self.pepper = pepper
    }

    func decide(given state: DecisionState) -> Decision {
        guard state.ledger.nextPosition == LogPosition(0) else {
            return Decision(.success(.opened))
        }
        let events = [Event.ledgerOpened(fact)] + (pepper.map { [.keyRotated($0)] } ?? [])
        return Decision(.success(.opened), drafts: events.map { .init($0, actor: .system) })
    }
}
