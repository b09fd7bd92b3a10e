/// What an erasure would take away, as far as the decision knows it.
package struct ErasureLosses: Hashable, Sendable {
    /// Events that touch the accounts: the most that can have disclosures about them.
    package let events: Int64
    /// Identities that belong to the accounts; those that they had before are forgotten, too.
    package let linkedIdentities: Int

    init(of plan: ErasurePlan, in ledger: LedgerState) {
        let accounts = plan.covers.compactMap { ledger.accounts[$0] }
        events = accounts.map(\.nextSequence).reduce(0, +)
        linkedIdentities = accounts.map(\.links.count).reduce(0, +)
    }
}

/// What an erasure would cover: shown before it is agreed to, and done as it was shown or not at all.
package struct ErasurePlan: Hashable, Sendable {
    /// The account that is named.
    package let account: AccountID
    /// The account that stands for it; itself where none does.
    package let survivor: AccountID
    /// Every account that merges made one with it, itself included, each before the one that absorbed it.
    package let covers: [AccountID]
    /// The legal holds on any of them, while which nothing is erased.
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

    /// Plans the erasure of an account that was not erased.
    init(of account: AccountID, in ledger: LedgerState) {
        let survivor = ledger.root(of: account)
        let covers = ledger.absorbed(by: survivor)
        self.init(
            account: account, survivor: survivor, covers: covers,
            holds: covers.flatMap { ledger.accounts[$0]?.holds ?? [] })
    }

    /// What the digest of the plan is made of: whoever stands for whom, another plan has another digest.
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
