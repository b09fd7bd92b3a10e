internal import Ledger

/// The settings of anonymous accounts.
package struct AnonymousSettings: Sendable {
    private static let retentionDaysMax: Int64 = 3650

    /// The accounts that may be opened.
    package let budget: OpeningBudget
    /// The days without use after which an account is erased while it is anonymous; nil for never.
    package let retentionDays: Int?

    /// Describes anonymous accounts.
    package init(budget: OpeningBudget, retentionDays: Int? = nil) {
        self.budget = budget
        self.retentionDays = retentionDays
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        try object.allow(
            StrictObject.commonMembers.union(OpeningBudget.members).union(["retention_days"]))
        budget = try OpeningBudget(object)
        retentionDays = try object.optionalNumber("retention_days", 1...Self.retentionDaysMax)
            .map { Int($0) }
    }
}
