internal import Ledger

/// The settings of anonymous accounts.
package struct AnonymousSettings: Sendable {
    /// The default of ``OpeningBudget/networkLimit``.
    private static let networkLimitDefault = 20
    /// The default of ``OpeningBudget/tenantLimit``.
    private static let tenantLimitDefault = 10_000
    private static let limitMax: Int64 = 1_000_000

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
            StrictObject.commonMembers.union([
                "hourly_limit_per_network", "hourly_limit", "retention_days",
            ]))
        budget = OpeningBudget(
            networkLimit: try Self.limit(object, "hourly_limit_per_network")
                ?? Self.networkLimitDefault,
            tenantLimit: try Self.limit(object, "hourly_limit") ?? Self.tenantLimitDefault)
        retentionDays = try object.optionalNumber("retention_days", 1...Self.retentionDaysMax)
            .map { Int($0) }
    }

    private static func limit(
        _ object: StrictObject, _ name: String
    ) throws(ProvidersFileFault) -> Int? {
        try object.optionalNumber(name, 1...limitMax).map { Int($0) }
    }
}
