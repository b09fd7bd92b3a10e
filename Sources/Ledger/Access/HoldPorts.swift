/// A legal hold in force.
package struct ActiveHold: Hashable, Sendable {
    package let account: AccountID
    package let hold: HoldID

    /// Names a hold.
    package init(account: AccountID, hold: HoldID) {
        self.account = account
        self.hold = hold
    }
}

/// A page of holds in the order of their accounts.
package struct HoldPage: Sendable {
    /// All holds of each account on the page.
    package let holds: [ActiveHold]
    /// Whether further accounts have holds.
    package let hasMore: Bool

    /// Collects a page.
    package init(holds: [ActiveHold], hasMore: Bool) {
        self.holds = holds
        self.hasMore = hasMore
    }
}

/// A page of requests for erasures in the order of their accounts.
package struct ErasureRequestPage: Sendable {
    package let requests: [ErasureRequest]
    /// Whether there are requests for further accounts.
    package let hasMore: Bool

    /// Collects a page.
    package init(requests: [ErasureRequest], hasMore: Bool) {
        self.requests = requests
        self.hasMore = hasMore
    }
}

/// Reads the legal holds in force, and the requests for erasures that can be confirmed.
package protocol HoldReader: Sendable {
    /// Returns the requests for the next accounts, in the order of their ids.
    func erasureRequests(
        after account: AccountID?, limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> ErasureRequestPage

    /// Returns the request for an account; nil without one that can be confirmed.
    func erasureRequest(
        for account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> ErasureRequest?

    /// Returns the holds of the next accounts that have some, in the order of their ids.
    func holds(
        after account: AccountID?, accounts limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> HoldPage
}
