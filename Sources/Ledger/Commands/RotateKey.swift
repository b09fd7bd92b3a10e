/// Records a key rotation in a tenant's log.
///
/// The caller checks whether the log says so already, and excludes concurrent rotations.
package struct RotateKey: Sendable {
    package let fact: KeyRotated

    /// Requests the record.
    package init(_ fact: KeyRotated) {
        self.fact = fact
    }

    func decide(given state: DecisionState) -> Decision {
        guard state.ledger.nextPosition != LogPosition(0) else { return .refused(.unknownTenant) }
        return Decision(.success(.keyRotated), drafts: [.init(.keyRotated(fact), actor: .system)])
    }
}
