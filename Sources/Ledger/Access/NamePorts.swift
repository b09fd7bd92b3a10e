/// An account found by its id in another system.
package struct NamedAccount: Hashable, Sendable {
    /// The account that got the id.
    package let named: AccountID
    /// The account into which it was merged; itself otherwise.
    package let survivor: AccountID
    /// The position of the `AccountNamed`.
    package let position: LogPosition

    /// Describes an account.
    package init(named: AccountID, survivor: AccountID, position: LogPosition) {
        self.named = named
        self.survivor = survivor
        self.position = position
    }
}

/// Finds accounts by their ids in other systems.
package protocol NameReader: Sendable {
    /// Returns the account that has an external id; nil when none has it, or it was erased.
    func account(
        named name: ExternalName, in tenant: TenantID
    ) async throws(LedgerFault) -> NamedAccount?
}
