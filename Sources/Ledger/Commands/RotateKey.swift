/// Writes into a tenant's log that a key took another's place.
///
/// Whether the log says so already is for the caller to find out, who keeps others from rotating
/// at the same time.
package struct RotateKey: Sendable {
    package let fact: KeyRotated

    /// Asks for the fact to be appended.
    package init(_ fact: KeyRotated) {
        self.fact = fact
    }

    func decide(given state: DecisionState) -> Decision {
        guard state.ledger.nextPosition != LogPosition(0) else { return .refused(.unknownTenant) }
        return Decision(.success(.keyRotated), drafts: [.init(.keyRotated(fact), actor: .system)])
    }
}
