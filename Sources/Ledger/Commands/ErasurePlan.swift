/// The data that an erasure would destroy, as known to the decision.
package struct ErasureLosses: Hashable, Sendable {
    /// Events that touch the accounts: an upper bound of those with disclosures about them.
    package let events: Int64
    /// Identities that belong to the accounts; their former identities are forgotten, too.
    package let linkedIdentities: Int

    init(of plan: ErasurePlan, in ledger: LedgerState) {
        let accounts = plan.covers.compactMap { ledger.accounts[$0] }
        events = accounts.map(\.nextSequence).reduce(0, +)
        linkedIdentities = accounts.map(\.links.count).reduce(0, +)
    }
}

/// The plan of an erasure: shown before it is agreed to, and executed exactly as shown or not at
/// all.
package struct ErasurePlan: Hashable, Sendable {
    /// The account that is named.
    package let account: AccountID
    /// The survivor of the account; itself when it is not merged.
    package let survivor: AccountID
    /// Every account merged with it, itself included, each before the one that absorbed it.
    package let covers: [AccountID]
    /// The legal holds on any of them, which prevent the erasure.
    package let holds: [HoldID]

    /// Collects a plan.
    package init(
        account: AccountID, survivor: AccountID, covers: [AccountID], holds: [HoldID]
    ) {
        self.account = account
        self.survivor = survivor
        self.covers = covers
        self.holds = holds
    }

    /// Plans the erasure of an account that is not erased.
    init(of account: AccountID, in ledger: LedgerState) {
        let survivor = ledger.root(of: account)
        let covers = ledger.absorbed(by: survivor)
        self.init(
            account: account, survivor: survivor, covers: covers,
            holds: covers.flatMap { ledger.accounts[$0]?.holds ?? [] })
    }

    /// The bytes that the plan's digest covers: they differ for plans with other merges.
    package var bytes: [UInt8] {
        func text<Kind>(_ ids: [EntityID<Kind>]) -> String {
            ids.map(\.description).sorted().joined(separator: ",")
        }
        return Array(
            """
            account-ledger erasure plan 1
            \(account) \(survivor)
            covers \(text(covers))
            holds \(text(holds))
            """.utf8)
    }
}
