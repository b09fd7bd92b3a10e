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

/// Finds accounts by their ids in other systems, and these ids of an account.
package protocol NameReader: Sendable {
    /// Returns the account that has an external id; nil when none has it, or it was erased.
    func account(
        named name: ExternalName, in tenant: TenantID
    ) async throws(LedgerFault) -> NamedAccount?

    /// Returns ids of an account: its own and then those of accounts merged into it, each in the order in
    /// which they were given.
    ///
    /// - Parameters:
    ///   - account: An account that was not merged into another one.
    ///   - sources: The systems whose ids are wanted.
    ///   - countMax: The maximum number of ids.
    ///   - tenant: The tenant.
    /// - Returns: The ids; none of an erased account.
    /// - Throws: A fault when they can't be read.
    func names(
        of account: AccountID, in sources: [NameSource], countMax: Int, of tenant: TenantID
    ) async throws(LedgerFault) -> [ExternalName]
}
