/// Records in the log that its end was lost in a restore; requested once for each lost end.
package struct RecordRestore: Sendable {
    package let fact: LedgerRestored

    /// Requests the record.
    package init(_ fact: LedgerRestored) {
        self.fact = fact
    }

    func decide(given state: DecisionState) -> Decision {
        guard state.ledger.nextPosition > LogPosition(0) else { return .refused(.unknownTenant) }
        return Decision(
            .success(.restoreRecorded(at: state.ledger.nextPosition)),
            drafts: [.init(.ledgerRestored(fact), actor: .system)])
    }
}
