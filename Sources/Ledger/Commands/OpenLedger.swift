/// Opens a tenant's log; answers the same when it is open.
package struct OpenLedger: Sendable {
    package let fact: LedgerOpened

    /// Requests a log with this opening.
    package init(_ fact: LedgerOpened) {
        self.fact = fact
    }

    func decide(given state: DecisionState) -> Decision {
        guard state.ledger.nextPosition == LogPosition(0) else {
            return Decision(.success(.opened))
        }
        return Decision(.success(.opened), drafts: [.init(.ledgerOpened(fact), actor: .system)])
    }
}
